package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolguard/toolguard"
)

// TestBodies: the bodies have their sizes, and are what the columns say.
func TestBodies(t *testing.T) {
	for _, size := range sizes[:3] {
		for _, broken := range []bool{false, true} {
			text := body(size.bytes, broken)
			report, err := toolguard.CheckBytes(t.Context(), []byte(text), toolguard.Dialect("anthropic"), toolguard.Request(), toolguard.Send())
			if err != nil {
				t.Fatal(err)
			}
			if got := report.Worst() == toolguard.Error; got != broken {
				t.Errorf("%s, broken %t: errors %t", size.name, broken, got)
			}
			if n := len(text); n < size.bytes*95/100 && size.bytes > 1000 || n > size.bytes*105/100+200 {
				t.Errorf("%s has %d bytes", size.name, n)
			}
		}
	}
}

// TestTable: the program prints a row for each size.
func TestTable(t *testing.T) {
	all := sizes
	defer func() { sizes = all }()
	sizes = sizes[:2]
	var b strings.Builder
	if err := run(&b, 0, 2); err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (300 B|100 KB) \| [0-9.]+ ms \|( [0-9.]+ ms \([0-9.]+×\) \|){3}$`)
	if got := row.FindAllString(b.String(), -1); len(got) != 2 {
		t.Errorf("printed\n%s", b.String())
	}
}
