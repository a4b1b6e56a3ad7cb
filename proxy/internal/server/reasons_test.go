package server

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/proxy/internal/body"
)

// TestReasonsPage: docs/proxy.md lists each reason that the log and the metrics have, and no other.
func TestReasonsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "proxy.md"))
	if err != nil {
		t.Fatal(err)
	}
	unread := []string{string(body.Signed), string(body.Trailer), string(body.Upgrade)}
	for why := range reasons {
		unread = append(unread, string(why))
	}
	for head, want := range map[string][]string{
		"| reason | the body |":                      unread,
		"| reason | status | the request |":          slices.Collect(maps.Keys(statuses)),
		"| reason | there is no response, because |": append(slices.Collect(maps.Keys(failures)), "client", "cut"),
	} {
		_, table, ok := strings.Cut(string(page), "\n"+head+"\n")
		if !ok {
			t.Errorf("no table %q", head)
			continue
		}
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
			got = append(got, row[1])
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", head, diff)
		}
	}
	for reason, status := range statuses {
		if row := regexp.MustCompile("(?m)^\\| `" + reason + "` \\| ([0-9]+) \\|").FindStringSubmatch(string(page)); row == nil || row[1] != strconv.Itoa(status) {
			t.Errorf("%s: %q, want the status %d", reason, row, status)
		}
	}
}
