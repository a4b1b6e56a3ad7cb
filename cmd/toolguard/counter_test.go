package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCounter: whatever a program does that does not count, trim says what is wrong and ends.
func TestCounter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts for a shell")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"late":    "cat | wc -c\n", // waits for the end of its input, in programs of its own
		"deaf":    "exec sleep 60\n",
		"two":     "read -r line; echo 5; read -r line; exit 3\n",
		"once":    "echo 5\n",
		"words":   "echo many\n",
		"float":   "while read -r line; do echo 2.5; done\n",
		"less":    "while read -r line; do echo -1; done\n",
		"endless": "read -r line; while :; do printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n",
		"open":    "printf 7\n",
		"stays":   "read -r line; echo 1; read -r line; echo 2; read -r line; exec sleep 60\n",
		"right":   "while read -r line; do echo 4; done\n",
	} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("plain", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	late := "no answer to line 1 within 300ms; the program must answer each line at once, so it may not wait for the end of its input or buffer its output"
	for line, want := range map[string]string{
		"./right":                          "",
		"./late":                           late,
		"./deaf":                           late,
		"./two":                            "it ended without an answer to line 2 (exit status 3)",
		"./once":                           "it ended without an answer to line 2 (exit status 0)",
		"./words":                          `expected an integer for line 1, got "many"`,
		"./float":                          `expected an integer for line 1, got "2.5"`,
		"./less":                           `expected an integer for line 1, got "-1"`,
		"./endless":                        `expected an integer for line 1, got "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"`,
		"./open":                           "it ended without an answer to line 2 (exit status 0)",
		"./stays":                          "",
		"right":                            "no such program in PATH; write cmd:./right",
		"toolguard-none":                   "no such program in PATH",
		"./plain":                          "may not be executed; name its interpreter too, such as cmd:python3 count.py",
		"./gone":                           "no such file or directory",
		"sh -c false":                      "it ended without an answer to line 1 (exit status 1)",
		filepath.Join(dir, "float") + " x": `expected an integer for line 1, got "2.5"`,
	} {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(line)
			if want != "" {
				want = "--counter: " + words[0] + ": " + want
			}
			start := time.Now()
			c, err := startCounter(t.Context(), line, io.Discard)
			if err == nil {
				text := []byte("a\nb")
				if strings.HasSuffix(want, late) {
					c.wait, text = 300*time.Millisecond, bytes.Repeat(text, 1<<16) // more than a pipe holds
				}
				for range 2 {
					if _, err = c.tokens(text); err != nil {
						break
					}
				}
				c.close()
			}
			if took := time.Since(start); message(err) != want || took > 20*time.Second {
				t.Errorf("%v after %v, want %s", err, took, want)
			}
		})
	}
}

// message returns the text of an error, "" for nil.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
