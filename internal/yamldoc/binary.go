//go:build !noyaml

package yamldoc

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// binary writes the text that a scalar holds in base64, compressed or not. Each line of it stands
// for what is written in it. What is no text stays base64.
func (t *transcriber) binary(n *yaml.Node) error {
	p, err := t.parse(n)
	if err != nil {
		return err
	}
	var digits strings.Builder
	ends := make([]int, len(p.runs)) // of the digits in each run
	for i := range p.runs {
		digits.WriteString(strings.Map(digit, p.runs[i].of(t.text)))
		ends[i] = digits.Len()
	}
	data, err := base64.StdEncoding.DecodeString(digits.String())
	if err != nil {
		return t.str(n)
	}
	runs := p.runs
	if plain := unpacked(data); plain != nil {
		data, runs = plain, []run{{from: p.from, to: p.to}}
	}
	if !utf8.Valid(data) {
		return t.str(n)
	}
	w := quoting{t: t}
	w.quote(p.from)
	done := 0
	for i, r := range runs {
		end := len(data)
		if i < len(runs)-1 {
			end = min(ends[i]*3/4, end)
			for end < len(data) && !utf8.RuneStart(data[end]) {
				end++
			}
		}
		if end > done {
			t.u.Pack(escaped(string(data[done:end])), w.span(r.from, r.to))
			done = end
		}
	}
	w.quote(p.to)
	return nil
}

// digit drops white space.
func digit(r rune) rune {
	if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
		return -1
	}
	return r
}

// unpacked returns what is compressed in data, or nil.
func unpacked(data []byte) []byte {
	if len(data) < 2 || data[0] != 0x1f || data[1] != 0x8b {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(z, maxDocument))
	if err != nil || len(out) == maxDocument {
		return nil
	}
	return out
}
