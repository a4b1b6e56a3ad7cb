//go:build wasip1 && playground

package main

import (
	"bytes"
	"cmp"
	"context"

	"github.com/toolguard/toolguard/internal/page"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// look writes the session as toolguard show --html does.
func look(ctx context.Context, r *request, input []byte, a *answered) error {
	o, err := r.settings()
	if err != nil {
		return err
	}
	src, err := source.Hold(ctx, r.Name, input)
	if err != nil {
		return err
	}
	opts := session.Options{Check: o.Options, Texts: true, Rows: true, Times: true, Elements: true}
	s, err := page.Read(ctx, src, opts)
	if err := cmp.Or(src.Err(), err); err != nil {
		return err
	}
	if s.Report.Skipped != "" {
		return notTranscript(s.Report.Skipped)
	}
	out := page.Options{Name: r.Name, Version: version, Agent: s.Report.File.Dialect}
	if out.After, err = page.After(ctx, src, o, opts); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.Write(&b, src, s, out); err != nil {
		return err
	}
	a.text = b.Bytes()
	return nil
}
