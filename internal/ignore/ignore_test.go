package ignore

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/sample"
)

// tree is what most tests look at: directories end in a slash.
var tree = []string{
	"a.json", "b.jsonl", "foo", "#x.json", "!y.json", "sp ace.json", "trail ", "ax.json", "bx.json", "[z].json",
	"build/", "build/q.json", "data/", "data/keep.json", "data/x/", "data/x/a.json", "data/x/keep.json",
	"deep/", "deep/a/", "deep/a/b/", "deep/a/b/c.json", "deep/build", "foo.d/", "foo.d/build/", "foo.d/build/z.json",
	"logs1/", "logs1/a.json", "logs2/", "logs2/a.json",
	"runs/", "runs/a.json", "runs/keep.json", "runs/sub/", "runs/sub/a.json",
}

// cases are .gitignore files by their directories, and what they hide of the tree.
var cases = []struct {
	files  map[string]string
	hidden string
}{
	{map[string]string{"": "*.jsonl\nfoo\n"}, "b.jsonl,foo"},
	{map[string]string{"": "# c\n\n   \nfoo"}, "foo"},
	{map[string]string{"": "/runs/sub/\n"}, "runs/sub/a.json"},
	{map[string]string{"": "build/\n"}, "build/q.json,foo.d/build/z.json"},
	{map[string]string{"": "/build\n"}, "build/q.json"},
	{map[string]string{"": "**/build\n"}, "build/q.json,deep/build,foo.d/build/z.json"},
	{map[string]string{"": "build/**\n"}, "build/q.json"},
	{map[string]string{"": "*/build\n"}, "deep/build,foo.d/build/z.json"},
	{map[string]string{"": "deep/**/c.json\n"}, "deep/a/b/c.json"},
	{map[string]string{"": "runs/*.json\n"}, "runs/a.json,runs/keep.json"},
	{map[string]string{"": "runs/**/*.json\n!keep.json\n"}, "runs/a.json,runs/sub/a.json"},
	{map[string]string{"": "data/**\n!data/keep.json\n"}, "data/x/a.json,data/x/keep.json"},
	{map[string]string{"": "data/\n!data/keep.json\n"}, "data/keep.json,data/x/a.json,data/x/keep.json"},
	{map[string]string{"": "data/**\n!data/**/\n!data/**/keep.json\n"}, "data/x/a.json"},
	{map[string]string{"": "logs[!1]/\n"}, "logs2/a.json"},
	{map[string]string{"": "[^a]x.json\n"}, "#x.json,bx.json"},
	{map[string]string{"": "[[:lower:]]x.json\n"}, "ax.json,bx.json"},
	{map[string]string{"": "\\#x.json\n\\!y.json\n\\[z\\].json\n"}, "!y.json,#x.json,[z].json"},
	{map[string]string{"": "trail\\ \nfoo  \n"}, "foo,trail "},
	{map[string]string{"": "trail \n"}, ""},
	{map[string]string{"": "foo\r\nlogs1/\r\n"}, "foo,logs1/a.json"},
	{map[string]string{"": "\xef\xbb\xbffoo\n"}, "foo"},
	{map[string]string{"": "\xff\xfef\x00o\x00o\x00\n\x00"}, ""},
	{map[string]string{"": "foo\x00bar\n"}, "foo"},
	{map[string]string{"": "deep/a[!x]b/c.json\n"}, ""},
	{map[string]string{"": "[a-a-z]x.json\n"}, "ax.json"},
	{map[string]string{"": "runs//\n/\n\\\n[\n[a\n[[:no:]]*\n"}, ""},
	{map[string]string{"": "*.json\n", "data": "!*.json\n"}, "!y.json,#x.json,[z].json,a.json,ax.json,build/q.json,bx.json," +
		"deep/a/b/c.json,foo.d/build/z.json,logs1/a.json,logs2/a.json,runs/a.json,runs/keep.json,runs/sub/a.json,sp ace.json"},
	{map[string]string{"": "!keep.json\n", "runs": "keep.json\n"}, "runs/keep.json"},
	{map[string]string{"deep": "/a/b\n"}, "deep/a/b/c.json"},
	{map[string]string{"runs": "/a.json\n"}, "runs/a.json"},
	{map[string]string{"runs": "*\n!.gitignore\n"}, "runs/a.json,runs/keep.json,runs/sub/a.json"},
	{map[string]string{"": "data\n", "data": "!keep.json\n"}, "data/keep.json,data/x/a.json,data/x/keep.json"},
}

func TestHides(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		if got := strings.Join(hidden(tree, c.files), ","); got != c.hidden {
			t.Errorf("%q hides %s, want %s", c.files, got, c.hidden)
		}
	}
	var none *List
	if none.Hides("a", false) {
		t.Error("no list hides a file")
	}
}

// TestAsGit: what people write, and random patterns in random trees, hide what
// they hide from git.
func TestAsGit(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	for _, c := range cases {
		g.compare(t, tree, c.files)
	}
	for seed := range uint64(sample.Size(150, 50, 50)) {
		paths, files := random(rand.New(rand.NewPCG(seed, 0)))
		g.compare(t, paths, files)
	}
}

// TestMatchTime: a pattern that is made to be slow is not.
func TestMatchTime(t *testing.T) {
	t.Parallel()
	glob := strings.Repeat("*a", 100) + "b"
	deep := strings.Repeat("**/*a*a/", 50) + "b"
	text := strings.Repeat(strings.Repeat("a", 250)+"/", 16)
	start := time.Now()
	if match(glob, text[:250]) || match(deep, text) {
		t.Error("matched")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// hidden returns the files of a tree that are ignored. Directories come before
// what is in them.
func hidden(paths []string, files map[string]string) []string {
	lists := map[string]*List{"": nil}
	if text, ok := files[""]; ok {
		lists[""] = lists[""].With("", []byte(text))
	}
	out := []string{}
	gone := map[string]bool{}
	for _, p := range paths {
		name, isDir := strings.CutSuffix(p, "/")
		above := strings.TrimSuffix(path.Dir(name), ".")
		if path.Dir(name) != "." {
			above = path.Dir(name)
		}
		gone[name] = gone[above] || lists[above].Hides(name, isDir)
		switch {
		case !isDir && gone[name]:
			out = append(out, name)
		case isDir && !gone[name]:
			lists[name] = lists[above]
			if text, ok := files[name]; ok {
				lists[name] = lists[name].With(name, []byte(text))
			}
		}
	}
	slices.Sort(out)
	return out
}

// A git asks git what it ignores.
type git struct{ dir string }

func newGit(t *testing.T) *git {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	if runtime.GOOS == "windows" {
		t.Skip("names of files in this test do not exist on Windows")
	}
	g := &git{dir: t.TempDir()}
	g.run(t, g.dir, "init", "-q")
	return g
}

func (g *git) run(t *testing.T, work string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "XDG_CONFIG_HOME="+g.dir,
		"GIT_DIR="+filepath.Join(g.dir, ".git"), "GIT_WORK_TREE="+work)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// compare makes a tree and fails the test if git hides other files of it.
func (g *git) compare(t *testing.T, paths []string, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	want := []string{}
	for _, p := range paths {
		name := filepath.Join(root, p)
		var err error
		if strings.HasSuffix(p, "/") {
			err = os.Mkdir(name, 0o755)
		} else {
			want = append(want, p)
			err = os.WriteFile(name, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, text := range files {
		if err := os.WriteFile(filepath.Join(root, dir, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen := strings.Split(g.run(t, root, "ls-files", "--others", "--exclude-standard", "-z"), "\x00")
	want = slices.DeleteFunc(want, func(p string) bool { return slices.Contains(seen, p) })
	slices.Sort(want)
	if got := hidden(paths, files); !slices.Equal(got, want) {
		t.Errorf("%q in %q\nhides     %q\nfor git   %q", files, paths, got, want)
	}
}

// random makes a tree and .gitignore files in it.
func random(r *rand.Rand) (paths []string, files map[string]string) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	seen := map[string]bool{}
	dirs := []string{""}
	for len(paths) < 25 {
		name := path.Join(pick(dirs...), pick("a", "b", "ab", "abc", "a.json", "b.json", "x y", "#c", "!d", "t ", "A", "[a]", "a-b", "*", `a\b`, "]"))
		if seen[name] || strings.Count(name, "/") > 3 {
			continue
		}
		seen[name] = true
		if r.IntN(5) < 2 {
			dirs = append(dirs, name)
			name += "/"
		}
		paths = append(paths, name)
	}
	files = map[string]string{}
	for n := range 1 + r.IntN(3) {
		dir := pick(dirs...)
		if n == 0 && r.IntN(3) > 0 {
			dir = ""
		}
		var b bytes.Buffer
		b.WriteString(pick("", "", "", "", "\xef\xbb\xbf"))
		eol := pick("\n", "\n", "\n", "\r\n")
		for range 1 + r.IntN(5) {
			b.WriteString(pick("", "", "", "!", `\`) + pick("", "", "", "/", "**/"))
			for parts := 1 + r.IntN(2); parts > 0; parts-- {
				for range 1 + r.IntN(2) {
					b.WriteString(pick("a", "b", "ab", "*", "*", "?", "**", "[a-b]", "[!a]", "[^b]", "*.json", "a.json", "[[:alpha:]]", " ", "#c",
						`\*`, `\ `, "[]a]", "x y", "[", "A", "[a-", "a**b", "[!]", `[\]]`, `a\b`, "[[:x:]]", "[a[:b]", "***", "[/]", "[--b]"))
				}
				if parts > 1 {
					b.WriteString(pick("/", "/", "/", "/**/", "//", `\/`, "/*/"))
				}
			}
			b.WriteString(pick("", "", "/", "/**", " ", "  ", `\ `, "\t", `\`) + eol)
		}
		files[dir] = b.String()
	}
	return paths, maps.Clone(files)
}

func ExampleList_Hides() {
	l := (*List)(nil).With("", []byte("*.json\n!keep.json\n"))
	fmt.Println(l.Hides("runs/a.json", false), l.Hides("runs/keep.json", false))
	// Output: true false
}
