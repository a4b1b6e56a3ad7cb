package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"repo/.git", "repo/sub/deep", "plain/sub", "out"} {
		if err := os.MkdirAll(at(dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	links := runtime.GOOS != "windows"
	if links {
		for link, to := range map[string]string{
			"repo/leads-out": "../out", "repo/leads-in": "sub", "plain/leads-out": "../out", "repo/sub/file": "/etc/passwd",
			"repo/nowhere": "../out/none", "linked": "repo/sub",
		} {
			if err := os.Symlink(to, at(link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const repo, plain = "outside of the repository", "outside of the directory of this file, which is not in a git repository"
	for _, tt := range []struct {
		dir, name, want string
		link            bool
	}{
		{dir: "repo", name: "known"},
		{dir: "repo", name: "sub/none/known"},
		{dir: "repo/sub/deep", name: "../../known"},
		{dir: "repo", name: at("repo/known")},
		{dir: "repo", name: "../out/known", want: repo},
		{dir: "repo/sub", name: "../../out/known", want: repo},
		{dir: "repo", name: "../repo2/known", want: repo},
		{dir: "repo", name: at("out/known"), want: repo},
		{dir: "repo", name: os.DevNull, want: repo},
		{dir: "plain", name: "sub/known"},
		{dir: "plain/sub", name: "../known", want: plain},
		{dir: "repo", name: "leads-in/known", link: true},
		{dir: "repo", name: "leads-out/known", want: repo, link: true},
		{dir: "repo", name: "leads-out/none/known", want: repo, link: true},
		{dir: "repo", name: "leads-out", want: repo, link: true},
		{dir: "repo", name: "sub/file", want: repo, link: true},
		{dir: "repo", name: "nowhere", link: true}, // a new file takes its place
		{dir: "plain", name: "leads-out/known", want: plain, link: true},
		{dir: "linked", name: "../known", want: repo, link: true}, // seen from where the link is
		{dir: "linked", name: "known", link: true},
	} {
		if tt.link && !links {
			continue
		}
		got := ""
		if err := within(at(tt.dir), tt.name); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s from %s: %q, want %q", tt.name, tt.dir, got, tt.want)
		}
	}
}
