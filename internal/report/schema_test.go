package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/reference"
	"github.com/toolguard/toolguard/internal/rules"
)

// schemas is where the official schemas lie on machines that have them.
var schemas = filepath.Join("..", "..", "..", "shared", "schemas")

func schemaFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(schemas, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the schema is not on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// outputs are what a format makes of findings, of findings without text, and
// of nothing.
func outputs(t *testing.T, newReporter func(io.Writer, Options) Reporter) map[string]string {
	t.Helper()
	opts := Options{Version: "1.2.3", Started: time.Unix(0, 0)}
	var none bytes.Buffer
	if err := newReporter(&none, opts).Close(&Summary{}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"findings": write(t, func(b *bytes.Buffer) Reporter { return newReporter(b, opts) }),
		"nothing":  none.String(),
	}
}

func TestJSONSchemas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema    string
		newFormat func(io.Writer, Options) Reporter
	}{
		{"sarif-2.1.0.json", newSARIF},
		{"rdf-diagnostic-result.json", newRDJSON},
	} {
		t.Run(tt.schema, func(t *testing.T) {
			t.Parallel()
			schema := string(schemaFile(t, tt.schema))
			validator, err := reference.Start()
			if err != nil {
				t.Fatal(err)
			}
			for name, out := range outputs(t, tt.newFormat) {
				a, err := validator.Validate(reference.Request{Schema: schema, URL: "schema:///" + tt.schema, Formats: true, Values: []string{out}})
				if err != nil || a.Invalid != "" || len(a.Unchecked) > 0 {
					t.Fatal(a, err)
				}
				for _, f := range a.Failures[0] {
					t.Errorf("%s: %v: %s\n%s", name, f.At, f.Message, out)
				}
			}
		})
	}
}

// TestGitLab holds the report to what GitLab's documentation asks for: it has
// no schema.
func TestGitLab(t *testing.T) {
	t.Parallel()
	for name, out := range outputs(t, newGitLab) {
		var issues []map[string]any
		if err := json.Unmarshal([]byte(out), &issues); err != nil || issues == nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		seen := map[any]bool{}
		for _, issue := range issues {
			for _, key := range []string{"description", "check_name", "fingerprint"} {
				if s, ok := issue[key].(string); !ok || s == "" && key != "fingerprint" {
					t.Errorf("%s: %s is %v", name, key, issue[key])
				}
			}
			if seen[issue["fingerprint"]] {
				t.Errorf("%s: fingerprint %v twice", name, issue["fingerprint"])
			}
			seen[issue["fingerprint"]] = true
			if s, _ := issue["severity"].(string); !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, s) {
				t.Errorf("%s: severity %q", name, s)
			}
			location, _ := issue["location"].(map[string]any)
			path, _ := location["path"].(string)
			lines, _ := location["lines"].(map[string]any)
			begin, _ := lines["begin"].(float64)
			if path == "" || strings.HasPrefix(path, "./") || filepath.IsAbs(path) || begin < 1 {
				t.Errorf("%s: location %v", name, location)
			}
		}
	}
}

// TestGitHub holds the annotations to how the runner reads commands.
func TestGitHub(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(`^::(error|warning|notice) ([^:]+)::(.*)$`)
	value := strings.NewReplacer("%0A", "\n", "%0D", "\r", "%3A", ":", "%2C", ",", "%25", "%")
	worst := "error"
	paths := map[string]bool{}
	out := outputs(t, newGitHub)["findings"]
	for line := range strings.Lines(out) {
		m := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("not a command: %q", line)
		}
		if m[1] == "error" && worst != "error" {
			t.Error("an error stands after something milder")
		}
		worst = m[1]
		for pair := range strings.SplitSeq(m[2], ",") {
			key, v, _ := strings.Cut(pair, "=")
			switch key {
			case "file":
				paths[value.Replace(v)] = true
			case "line", "endLine", "col", "endColumn":
				if n, err := strconv.Atoi(v); err != nil || n < 1 {
					t.Errorf("%s is %q", key, v)
				}
			case "title":
				if rules.ByName(v) == nil && v != string(missedFailed) && v != string(missedLookalike) {
					t.Errorf("title %q", v)
				}
			default:
				t.Errorf("property %q", pair)
			}
		}
	}
	if !paths[Printable(hostilePath)] {
		t.Errorf("the hostile path is not among %v", paths)
	}
}

// TestJUnitSchema holds the report to the schema, with a reader of as much of
// XML Schema as that one uses.
func TestJUnitSchema(t *testing.T) {
	t.Parallel()
	var schema xsd
	if err := xml.Unmarshal(schemaFile(t, "junit.xsd"), &schema); err != nil {
		t.Fatal(err)
	}
	for name, out := range outputs(t, newJUnit) {
		var root xmlElement
		if err := xml.Unmarshal([]byte(out), &root); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		for _, e := range schema.Elements {
			if e.Name == root.XMLName.Local {
				schema.element(t, root.XMLName.Local, e, root)
			}
		}
		if name == "findings" && len(root.Children[0].Children) != 11 { // properties, eight cases, out, err
			t.Errorf("%d elements in the suite, want 11\n%s", len(root.Children[0].Children), out)
		}
	}
}

// xmlElement is an element of a document.
type xmlElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr   `xml:",any,attr"`
	Children []xmlElement `xml:",any"`
}

// xsd is a schema, or any part of one.
type xsd struct {
	XMLName  xml.Name
	Name     string `xml:"name,attr"`
	Type     string `xml:"type,attr"`
	Base     string `xml:"base,attr"`
	Use      string `xml:"use,attr"`
	Min      string `xml:"minOccurs,attr"`
	Max      string `xml:"maxOccurs,attr"`
	Value    string `xml:"value,attr"`
	Elements []xsd  `xml:"element"`
	Types    []xsd  `xml:"complexType"`
	Parts    []xsd  `xml:",any"`
	Simple   []xsd  `xml:"simpleType"`
	Attrs    []xsd  `xml:"attribute"`
}

func (x *xsd) named(list []xsd, name string) *xsd {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// element holds an element against its declaration.
func (x *xsd) element(t *testing.T, path string, decl xsd, e xmlElement) {
	t.Helper()
	typ := x.named(x.Types, decl.Type)
	if typ == nil && len(decl.Types) > 0 {
		typ = &decl.Types[0]
	}
	if typ == nil {
		if len(e.Children) > 0 {
			t.Errorf("%s: has elements", path)
		}
		return
	}
	var particles, attrs []xsd
	x.collect(typ, &particles, &attrs)
	for _, a := range e.Attrs {
		d := x.named(attrs, a.Name.Local)
		if d == nil {
			t.Errorf("%s: attribute %s", path, a.Name.Local)
			continue
		}
		x.value(t, path+"/@"+a.Name.Local, *d, a.Value)
	}
	for _, d := range attrs {
		has := false
		for _, a := range e.Attrs {
			has = has || a.Name.Local == d.Name
		}
		if d.Use == "required" && !has {
			t.Errorf("%s: no attribute %s", path, d.Name)
		}
	}
	rest := e.Children
	for _, p := range particles {
		n := 0
		most, least := 1, 1
		if p.Max == "unbounded" {
			most = len(rest)
		}
		if p.Min == "0" {
			least = 0
		}
		options := []xsd{p}
		if p.XMLName.Local == "choice" {
			options = p.Elements
		}
		for n < most && len(rest) > 0 {
			var d *xsd
			if d = x.named(options, rest[0].XMLName.Local); d == nil {
				break
			}
			x.element(t, path+"/"+d.Name, *d, rest[0])
			rest = rest[1:]
			n++
		}
		if n < least {
			t.Errorf("%s: %d of %s %s", path, n, p.XMLName.Local, p.Name)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%s: element %s", path, rest[0].XMLName.Local)
	}
}

// collect gathers what a type and its bases hold.
func (x *xsd) collect(typ *xsd, particles, attrs *[]xsd) {
	if base := x.named(x.Types, typ.Base); base != nil {
		x.collect(base, particles, attrs)
	}
	*attrs = append(*attrs, typ.Attrs...)
	for i := range typ.Parts {
		switch p := &typ.Parts[i]; p.XMLName.Local {
		case "sequence":
			*particles = append(*particles, p.Elements...)
		case "choice":
			*particles = append(*particles, *p)
		case "complexContent", "simpleContent", "extension", "restriction":
			x.collect(p, particles, attrs)
		}
	}
}

// value holds a value against its type.
func (x *xsd) value(t *testing.T, path string, decl xsd, v string) {
	t.Helper()
	kind := decl.Type + decl.Base
	if s := x.named(x.Simple, decl.Type); s != nil {
		x.value(t, path, *s, v)
	}
	for _, s := range append(decl.Simple, decl.Parts...) {
		switch s.XMLName.Local {
		case "simpleType", "restriction":
			x.value(t, path, s, v)
		case "minLength":
			if n, _ := strconv.Atoi(s.Value); len(v) < n {
				t.Errorf("%s: %q is too short", path, v)
			}
		case "pattern":
			if !regexp.MustCompile("^" + s.Value + "$").MatchString(v) {
				t.Errorf("%s: %q does not match %s", path, v, s.Value)
			}
		}
	}
	switch kind {
	case "xs:int":
		if _, err := strconv.Atoi(v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	case "xs:decimal":
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	case "xs:dateTime":
		if _, err := time.Parse("2006-01-02T15:04:05", v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
