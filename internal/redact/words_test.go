package redact

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
)

// readers are the packages that compare keys and values of transcripts with texts.
var readers = []string{
	"container", "detect", "dialect", "engine", "evidence", "pairing", "profile", "repair", "rules", "schema", "transcript", "unfold",
}

// errorTexts is the file of these packages with what people paste to explain. No transcript is
// compared with it.
var errorTexts = filepath.Join("..", "rules", "texts.go")

var (
	evidenceRow = regexp.MustCompile(`^(none|weak|plain|shared|decisive) if `)
	fromFact    = regexp.MustCompile(`^gh:|://|^\[|_1$|^2006`) // of a fact, a class of characters, the id of an example, or a form of times
	wordOrPath  = regexp.MustCompile(`\*?[A-Za-z0-9_$][A-Za-z0-9_$-]*\*?`)
)

// wordsOf adds the words of a literal of the program. Prose and JSON have none, except the
// rows of evidence.
func wordsOf(literal string, add func(string)) {
	if strings.ContainsAny(literal, " \n\t{}\"'`%\\") && !evidenceRow.MatchString(literal) {
		return
	}
	if fromFact.MatchString(literal) {
		return
	}
	for _, w := range wordOrPath.FindAllString(literal, -1) {
		w = strings.TrimRight(w, "-")
		if strings.IndexFunc(w, func(r rune) bool { return r >= 'A' && r <= 'z' && r != '_' }) >= 0 {
			add(w)
		}
	}
}

// TestWords: the words that redacted text keeps are those of the packages that read
// transcripts, so a key that a reader looks up is never redacted.
func TestWords(t *testing.T) {
	set := map[string]bool{}
	for _, pkg := range readers {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pkg, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || name == errorTexts {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.BasicLit:
					if n.Kind == token.STRING {
						text, err := strconv.Unquote(n.Value)
						if err != nil {
							t.Fatal(err)
						}
						wordsOf(text, func(w string) { set[w] = true })
					}
				}
				return true
			})
		}
	}
	golden.File(t, "words.txt", strings.Join(slices.Sorted(maps.Keys(set)), "\n")+"\n")
}
