package body

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/toolguard/toolguard"
)

// orphans is the rule whose repair turns a result into text. That is an unsafe repair, because
// fields of the result that an API does not define have no place in a text.
const orphans = "orphan-tool-result"

// leave is the option that leaves such results as they are.
var leave = toolguard.Strategy(orphans, "leave")

// mostSearched is how many bytes a search for words may read, in all.
const mostSearched = 256 << 20

// envelope has the keys of a result, and of its message, that say nothing once it is text. The label
// of the text names the tool and the call.
var envelope = map[string]bool{
	"role": true, "type": true, "status": true, "is_error": true, "cache_control": true, "ttl": true,
	"content": true, "output": true, "text": true, "parts": true, "toolResult": true, "functionResponse": true, "response": true,
	"id": true, "tool_use_id": true, "tool_call_id": true, "call_id": true, "toolUseId": true, "name": true,
}

// labels are the keys of the envelope whose values go with them.
var labels = map[string]bool{
	"role": true, "type": true, "status": true, "ttl": true, "id": true, "tool_use_id": true, "tool_call_id": true, "call_id": true,
	"toolUseId": true, "name": true,
}

// madeText reports whether a repair turned a result into text.
func madeText(fixed *toolguard.Fixed) bool {
	return slices.ContainsFunc(fixed.Repairs, func(r toolguard.Repair) bool { return r.Rule == orphans && r.Class == toolguard.Unsafe })
}

// losesWords reports whether a repair that turned a result into text lost something that the result
// said. others are the edits of the repair that leaves such results as they are: they lose
// nothing, although an id that was renamed or an exact copy that was dropped is gone.
func losesWords(text []byte, fixed *toolguard.Fixed, others []toolguard.Edit) bool {
	spans := make(map[[2]int64]bool, len(others))
	for _, e := range others {
		spans[[2]int64{e.Start, e.End}] = true
	}
	var inserted []byte
	for _, e := range fixed.Edits {
		inserted = append(append(inserted, e.Text...), '\n')
	}
	left := mostSearched
	for _, e := range fixed.Edits {
		if spans[[2]int64{e.Start, e.End}] {
			continue
		}
		for word := range words(text[e.Start:e.End]) {
			if left -= len(inserted); left < 0 {
				return true // nobody knows
			}
			if !bytes.Contains(inserted, []byte(word)) && !bytes.Contains(inserted, escaped(word)) {
				return true
			}
		}
	}
	return false
}

// escaped returns a text, as it is in a JSON string, as it is in the JSON of a JSON string.
func escaped(word string) []byte {
	b, err := json.Marshal(word)
	if err != nil {
		panic(err) // every text has a JSON form
	}
	return b[1 : len(b)-1]
}

// words returns the keys, texts and numbers in a part of a JSON text, without those of the envelope
// of a result. They are as they are in the text: escapes stay.
func words(part []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		key := ""
		for i := 0; i < len(part); {
			start := i
			switch c := part[i]; {
			case c == '"':
				for i++; i < len(part) && part[i] != '"'; i++ {
					if part[i] == '\\' {
						i++
					}
				}
				word := string(part[start+1 : min(i, len(part))])
				i++
				rest := bytes.TrimLeft(part[min(i, len(part)):], " \t\r\n")
				if bytes.HasPrefix(rest, []byte(":")) {
					if key = word; envelope[word] {
						continue
					}
				} else if labels[key] {
					key = ""
					continue
				}
				if !yield(word) {
					return
				}
			case c >= '0' && c <= '9' || c == '-':
				for i < len(part) && bytes.IndexByte([]byte("0123456789+-.eE"), part[i]) >= 0 {
					i++
				}
				if !yield(string(part[start:i])) {
					return
				}
			default:
				i++
			}
		}
	}
}
