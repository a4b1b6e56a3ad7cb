package report

import (
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// found returns a report with a finding of a rule, and what would repair it.
func found(rule string, severity rules.Severity, fix *operation.Operation) engine.Finding {
	return engine.Finding{Finding: rules.Finding{Rule: rules.ByName(rule), Severity: severity, Fix: fix}}
}

func TestFixSummary(t *testing.T) {
	t.Parallel()
	insert := &operation.Operation{Class: operation.Additive}
	drop := &operation.Operation{Class: operation.Unsafe}
	onDataset := &operation.Operation{Class: operation.Unsafe, ByStrategy: true}
	pieces := edit.NewPieces(source.FromBytes("s", nil))
	missing, orphan := found("missing-tool-result", rules.Error, insert), found("orphan-tool-result", rules.Error, drop)
	pending := found("pending-tool-call", rules.Warning, nil)
	reused := found("reused-call-id", rules.Info, nil)
	report := func(fs ...engine.Finding) *engine.Report {
		return &engine.Report{File: &container.File{}, Findings: engine.Pack(fs...)}
	}
	at := func(offset int64, rule string, s rules.Severity) engine.Finding {
		f := found(rule, s, nil)
		f.Span = source.Span{Start: offset, End: offset + 1}
		return f
	}
	inserted := engine.Repair{Rule: "missing-tool-result", Kind: "insert-result", Results: 2}
	tests := []struct {
		name    string
		summary FixSummary
		files   []*engine.Fixed
		want    string
	}{
		{"no file", FixSummary{Summary: Summary{Failed: make([]Missed, 1)}}, nil, "No files checked, 1 failed."},
		{
			"not repaired",
			FixSummary{Summary: Summary{Failed: make([]Missed, 2), Unrepaired: 1}, Written: true},
			[]*engine.Fixed{{Before: report(missing), After: report(missing)}},
			"1 problem left. 1 file checked, 1 not repaired, 1 failed.",
		},
		{
			"nothing",
			FixSummary{},
			[]*engine.Fixed{{Before: report(), After: report()}},
			"Nothing to repair. No problems left. 1 file checked.",
		},
		{
			"shown",
			FixSummary{},
			[]*engine.Fixed{{
				Before: report(missing, missing, orphan), After: report(orphan),
				Pieces: pieces, Repairs: []engine.Repair{inserted},
			}},
			"Would repair 2 problems in 1 file (2 inserted); run with --write to do it. 1 problem would be left (1 fixable with --unsafe).",
		},
		{
			"written",
			FixSummary{Written: true, Unsafe: true},
			[]*engine.Fixed{
				{
					Before: report(missing, missing, orphan), After: report(pending),
					Pieces: pieces, Repairs: []engine.Repair{inserted, {Rule: "orphan-tool-result", Kind: "drop-result", Results: 1, Removed: 1}},
				},
				{Before: report(pending), After: report(pending)},
			},
			"Repaired 3 problems in 1 file (2 inserted, 1 orphaned result dropped). 2 problems left (2 fixable with --strategy pending-tool-call=insert). 2 files checked.",
		},
		{
			"all that is left",
			FixSummary{SafeOnly: true, Summary: Summary{Skipped: 2}},
			[]*engine.Fixed{{
				Before: report(), After: report(missing, missing, orphan, pending, found("orphan-tool-result", rules.Error, onDataset), found("invalid-json", rules.Error, nil)),
			}},
			"Nothing to repair. 6 problems left (2 fixable without --safe-only, 1 more with --unsafe, 2 more with --strategy). 1 file checked, 2 skipped (not transcripts).",
		},
		{
			"left by choice",
			FixSummary{Strategy: map[string]string{"pending-tool-call": "leave"}},
			[]*engine.Fixed{{Before: report(pending), After: report(pending)}},
			"Nothing to repair. 1 problem left. 1 file checked.",
		},
		{
			"of a dataset",
			FixSummary{},
			[]*engine.Fixed{{Before: report(), After: report(found("orphan-tool-result", rules.Error, onDataset))}},
			"Nothing to repair. 1 problem left (1 fixable with --strategy orphan-tool-result=text --unsafe). 1 file checked.",
		},
		{
			"infos",
			FixSummary{Written: true},
			[]*engine.Fixed{{
				Before: report(reused, reused), After: report(),
				Pieces: pieces, Repairs: []engine.Repair{{Rule: "reused-call-id", Kind: "rename-id", Results: 2}},
			}},
			"Repaired 2 problems in 1 file (2 renamed). No problems left.",
		},
		{
			"no problem to begin with",
			FixSummary{Written: true},
			[]*engine.Fixed{{
				Before: report(), After: report(),
				Pieces: pieces, Repairs: []engine.Repair{{Rule: "reused-call-id", Kind: "rename-id", Results: 2}},
			}},
			"Repaired 1 file (2 renamed). No problems left.",
		},
		{
			"no other file",
			FixSummary{Summary: Summary{Failed: make([]Missed, 1), Unrepaired: 1}, Written: true},
			[]*engine.Fixed{{Before: report(reused), After: report(reused)}},
			"1 file checked, 1 not repaired.",
		},
		{
			"another file",
			FixSummary{Summary: Summary{Failed: make([]Missed, 1), Unrepaired: 1}, Written: true},
			[]*engine.Fixed{{Before: report(reused), After: report(reused)}, {Before: report(), After: report()}},
			"No problems left in the other files. 2 files checked, 1 not repaired.",
		},
		{
			"asked for, and a problem at the same place",
			FixSummary{Written: true},
			[]*engine.Fixed{{
				Before: report(at(5, "replayed-reasoning", rules.Info), at(9, "reasoning-unreplayable", rules.Error), at(9, "replayed-reasoning", rules.Info)),
				After:  report(), Pieces: pieces,
				Repairs: []engine.Repair{{Rule: "replayed-reasoning", Kind: "strip-reasoning", Results: 1, Removed: 2}},
			}},
			"Repaired 2 problems in 1 file (2 pieces of reasoning dropped). No problems left.",
		},
		{
			"asked for in doctor",
			FixSummary{Written: true},
			[]*engine.Fixed{{
				Before: report(at(5, "replayed-reasoning", rules.Error), at(9, "reasoning-unreplayable", rules.Error), at(9, "replayed-reasoning", rules.Error)),
				After:  report(), Pieces: pieces,
				Repairs: []engine.Repair{{Rule: "replayed-reasoning", Kind: "strip-reasoning", Results: 1, Removed: 2}},
			}},
			"Repaired 2 problems in 1 file (2 pieces of reasoning dropped). No problems left.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range tt.files {
				tt.summary.AddFixed(f)
			}
			if got := tt.summary.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestDone: each kind of operation has words that are told, whichever rule asks for it.
func TestDone(t *testing.T) {
	t.Parallel()
	for _, a := range []operation.Action{
		&operation.InsertResults{}, &operation.SetState{}, &operation.MoveResults{}, &operation.MergeResults{}, &operation.ReorderResults{},
		&operation.CallsLast{}, &operation.SplitMessage{}, &operation.SplitResults{}, &operation.MoveBlock{}, &operation.DropResults{}, &operation.DropCalls{},
		&operation.DropTurn{}, &operation.DropBlocks{}, &operation.DropMessages{}, &operation.Texts{}, &operation.MergeMessage{},
		&operation.RelinkResult{}, &operation.RenamePairs{}, &operation.RenameID{}, &operation.MintIDs{}, &operation.Retag{},
		&operation.AddMember{}, &operation.SetValue{}, &operation.RemoveMember{}, &operation.TrimText{}, &operation.DropRecord{},
		&operation.DropBytes{}, &operation.ImageTexts{}, &operation.StripReasoning{}, &operation.EscapeNewlines{}, &operation.ReplaceBytes{}, &operation.RelinkRecord{}, &operation.Renumber{},
	} {
		for _, r := range rules.All() {
			var s FixSummary
			s.AddFixed(&engine.Fixed{
				Before: &engine.Report{File: &container.File{}}, After: &engine.Report{File: &container.File{}},
				Pieces: edit.NewPieces(source.FromBytes("s", nil)), Repairs: []engine.Repair{{Rule: r.Name, Kind: a.Kind(), Results: 1, Removed: 1}},
			})
			if s.deeds() == "" {
				t.Errorf("%s by %s is not told", a.Kind(), r.Name)
			}
		}
	}
}

// TestDeeds: what is dropped is named, and counted by its name.
func TestDeeds(t *testing.T) {
	t.Parallel()
	var s FixSummary
	s.AddFixed(&engine.Fixed{
		Before: &engine.Report{File: &container.File{}}, After: &engine.Report{File: &container.File{}},
		Pieces: edit.NewPieces(source.FromBytes("s", nil)),
		Repairs: []engine.Repair{
			{Rule: "orphan-tool-result", Kind: "drop-result", Results: 1, Removed: 1},
			{Rule: "duplicate-tool-result", Kind: "drop-result", Results: 1, Removed: 1, Copy: true},
			{Rule: "duplicate-record", Kind: "drop-record", Results: 1, Removed: 1, Copy: true},
			{Rule: "duplicate-tool-result", Kind: "drop-result", Results: 1, Removed: 1},
			{Rule: "missing-tool-result", Kind: "drop-call", Results: 1, Removed: 3},
			{Rule: "missing-tool-result", Kind: "insert-result", Results: 2},
			{Rule: "empty-text", Kind: "drop-message", Results: 1, Removed: 1},
			{Rule: "empty-message", Kind: "drop-message", Results: 1, Removed: 1},
			{Rule: "image-limit", Kind: "text-image", Results: 1, Removed: 2},
		},
	})
	const want = "2 inserted, 2 identical copies dropped, 1 orphaned result dropped, 1 duplicate result dropped, 3 calls dropped, 2 images replaced, 2 empty messages dropped"
	if got := s.deeds(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
