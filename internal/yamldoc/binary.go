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

	"github.com/toolguard/toolguard/internal/unfold"
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
	plain := unpacked(data)
	if t.unpacked += len(plain); t.unpacked > maxDocument {
		return t.fail(p.from, "its compressed texts are too long")
	}
	if plain != nil {
		data, runs, ends = plain, []run{{from: p.from, to: p.to}}, []int{0}
	}
	if !utf8.Valid(data) {
		return t.str(n)
	}
	before := t.u.Len()
	w := quoting{t: t}
	w.quote(p.from)
	for i, part := range unfold.Base64Lines(data, ends) {
		if part[1] > part[0] {
			t.u.Pack(escaped(string(data[part[0]:part[1]])), w.span(runs[i].from, runs[i].to))
		}
	}
	w.quote(p.to)
	if plain != nil {
		t.most += t.u.Len() - before // compressed text is longer than the file
	}
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
