package page

import (
	"context"
	"errors"
	"slices"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// Read reads a session for a page. Infos that are only counted, because nobody asked for them, are left
// out.
func Read(ctx context.Context, src *source.Source, opts session.Options) (*session.Session, error) {
	s, err := session.Read(ctx, src, opts)
	if err == nil {
		s.Report.Rest = slices.DeleteFunc(s.Report.Rest, func(r engine.Rest) bool { return r.Severity == rules.Info && r.Kept == 0 })
	}
	return s, err
}

// After returns the repaired session, nil if nothing is repaired.
func After(ctx context.Context, src *source.Source, fix engine.FixOptions, opts session.Options) (*Variant, error) {
	got, err := engine.Settle(ctx, src, fix)
	switch {
	case errors.As(err, new(*engine.ProofError)), errors.As(err, new(*engine.CheckOnlyError)):
		return nil, nil
	case err != nil || !got.Changed():
		return nil, err
	}
	s, err := Read(ctx, got.Pieces.Source(), opts)
	return &Variant{Session: s, Edits: got.Edits()}, err
}
