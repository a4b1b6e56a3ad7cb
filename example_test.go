package toolguard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/toolguard/toolguard"
)

// README.md shows the body of this example.
func Example() {
	// The agent was stopped while a tool ran.
	history := []byte(`[{"role":"user","content":"What is in /srv?"},
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}]`)

	body, fixed, err := toolguard.FixBytes(context.Background(), history, toolguard.Send())
	if err != nil {
		fmt.Println(err) // body is nil
		return
	}
	if fixed.After.Worst() == toolguard.Error {
		for _, f := range fixed.After.Findings {
			fmt.Println(f.Message)
		}
		return // the provider would refuse body
	}
	fmt.Printf("%s\n", body) // what to send
	// Output:
	// [{"role":"user","content":"What is in /srv?"},
	// {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},
	// {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true}]}]
}

// A request whose first call was never answered.
const request = `{"model":"claude","max_tokens":100,"messages":[
 {"role":"user","content":"what is in /srv?"},
 {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"path":"/srv"}}]},
 {"role":"user","content":"still there?"}
]}
`

// A request body needs no detection if its dialect is known.
func ExampleCheckBytes() {
	report, err := toolguard.CheckBytes(context.Background(), []byte(request), toolguard.Dialect("anthropic"), toolguard.Request(), toolguard.Send())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Println(f.Pointer, f.Rule)
	}
	_, err = toolguard.CheckBytes(context.Background(), []byte(`{"model":"claude","input":"hello"}`), toolguard.Dialect("anthropic"), toolguard.Request())
	fmt.Println(err)
	// Output:
	// /messages/1/content/0/id missing-tool-result
	// not a transcript: expected a request in the format anthropic, which is an object with an array in the field "messages", but the input has no field "messages"
}

// A body without faults comes back as the slice that it was.
func ExampleFixBytes() {
	in := []byte(request)
	fixed, did, err := toolguard.FixBytes(context.Background(), in, toolguard.Dialect("anthropic"), toolguard.Request())
	if err != nil {
		fmt.Println(err)
		return
	}
	again, didAgain, err := toolguard.FixBytes(context.Background(), fixed, toolguard.Dialect("anthropic"), toolguard.Request())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(did.Changed(), len(did.Repairs), did.Repairs[0].Title)
	fmt.Println(didAgain.Changed(), &again[0] == &fixed[0])
	// Output:
	// true 1 insert a placeholder result into messages.2
	// false true
}

func ExampleCheck() {
	report, err := toolguard.Check(context.Background(), strings.NewReader(request))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Printf("%d:%d: %s: %s [%s]\n", f.Start.Line, f.Start.Column, f.Severity, f.Message, f.Rule)
		fmt.Printf("fix: %s (%s)\n", f.Repair.Title, f.Repair.Class)
	}
	fmt.Println("refused:", report.Worst() == toolguard.Error)
	// Output:
	// 3:57: error: call "c1" to "ls" has no result [missing-tool-result]
	// fix: insert a placeholder result into messages.2 (additive)
	// refused: true
}

func ExampleFix() {
	fixed, err := toolguard.Fix(context.Background(), os.Stdout, strings.NewReader(request), toolguard.Send())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range fixed.Repairs {
		fmt.Printf("%s (%s)\n", r.Title, r.Class)
	}
	fmt.Println("findings left:", len(fixed.After.Findings))
	// Output:
	// {"model":"claude","max_tokens":100,"messages":[
	//  {"role":"user","content":"what is in /srv?"},
	//  {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"path":"/srv"}}]},
	//  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"still there?"}]}
	// ]}
	// insert a placeholder result into messages.2 (additive)
	// findings left: 0
}

// The edits turn the input into what Fix would write.
func ExampleFix_edits() {
	fixed, err := toolguard.Fix(context.Background(), nil, strings.NewReader(request))
	if err != nil {
		fmt.Println(err)
		return
	}
	at := int64(0)
	for _, e := range fixed.Edits {
		fmt.Print(request[at:e.Start], string(e.Text))
		at = e.End
	}
	fmt.Print(request[at:])
	// Output:
	// {"model":"claude","max_tokens":100,"messages":[
	//  {"role":"user","content":"what is in /srv?"},
	//  {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"path":"/srv"}}]},
	//  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"still there?"}]}
	// ]}
}

// A request that a provider refused, without its contents, for a bug report.
func ExampleRedactBytes() {
	shared, report, err := toolguard.RedactBytes(context.Background(), []byte(request), toolguard.Dialect("anthropic"), toolguard.Request())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(shared) == len(request), strings.Contains(string(shared), "what is in"), strings.Contains(string(shared), `"role":"user"`))
	for _, f := range report.Findings {
		fmt.Printf("%d:%d: %s\n", f.Start.Line, f.Start.Column, f.Rule)
	}
	// Output:
	// true false true
	// 3:57: missing-tool-result
}

// A session log on its way into a file that can be attached to a bug report. Nothing is written if
// a check of the redacted text would find anything new.
func ExampleRedact() {
	log := strings.NewReader(`{"role":"user","content":"pay the invoice"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"pay","arguments":"{\"to\":\"Kim\"}"}}]}
{"role":"user","content":"done?"}
`)
	var file bytes.Buffer
	report, err := toolguard.Redact(context.Background(), &file, log)
	var not *toolguard.RedactError
	switch {
	case errors.As(err, &not):
		fmt.Println("cannot be shared:", not.Reason)
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(file.String(), "\n"), strings.Contains(file.String(), "invoice"), report.Worst())
	// Output:
	// 3 false error
}

// A history that was recorded with one provider, before it is sent to another.
func ExampleTarget() {
	history := `[{"role":"user","content":"q"},
{"role":"assistant","content":null,"tool_calls":[{"id":"call.1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"call.1","content":"a.txt"}]`
	for _, target := range []string{"openai", "anthropic"} {
		report, err := toolguard.Check(context.Background(), strings.NewReader(history), toolguard.Target(target), toolguard.Only("ids"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v\n", target, report.Worst())
	}
	// Output:
	// openai: off
	// anthropic: error
}

func ExampleNotTranscriptError() {
	_, err := toolguard.Check(context.Background(), strings.NewReader(`{"name":"left-pad","version":"1.3.0"}`))
	var not *toolguard.NotTranscriptError
	fmt.Println(errors.As(err, &not), err)
	// Output:
	// true not a transcript: no messages found, only the fields "name", "version"
}
