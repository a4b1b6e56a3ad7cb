//go:build wasip1

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/trim"
)

// A request is what the host asks for. The names of its fields are those that its callers use.
type request struct {
	Operation string `json:"operation"`
	// List says that the input is a list whose elements the host knows.
	List bool `json:"list"`

	Name     string            `json:"name"`
	Format   string            `json:"format"`
	Provider string            `json:"provider"`
	Address  string            `json:"address"`
	Request  bool              `json:"request"`
	Send     bool              `json:"send"`
	Tools    json.RawMessage   `json:"tools"`
	Select   []string          `json:"select"`
	Ignore   []string          `json:"ignore"`
	Severity map[string]string `json:"severity"`
	Edits    bool              `json:"edits"`

	Allow          string            `json:"allow"`
	AllowFor       []string          `json:"allowFor"`
	Strategies     map[string]string `json:"strategies"`
	Placeholder    *string           `json:"placeholder"`
	StripReasoning bool              `json:"stripReasoning"`

	Trim trimming `json:"trim"`
}

// A trimming says what trim keeps.
type trimming struct {
	KeepLast        int    `json:"keepLast"`
	KeepLastUser    int    `json:"keepLastUser"`
	TargetIndex     *int   `json:"targetIndex"`
	KeepFirst       int    `json:"keepFirst"`
	MaxTokens       int64  `json:"maxTokens"`
	MaxBytes        int64  `json:"maxBytes"`
	Boundary        string `json:"boundary"`
	Prefer          string `json:"prefer"`
	Pin             int    `json:"pin"`
	ResultsMaxBytes int64  `json:"resultsMaxBytes"`
	KeepResults     *int   `json:"keepResults"`
	Counts          bool   `json:"counts"` // the host counts tokens
}

// An optionError is about the options of a request.
type optionError struct{ error }

// Unwrap returns what is wrong.
func (e optionError) Unwrap() error { return e.error }

// parse reads a request and checks the names in it.
func parse(options []byte) (*request, error) {
	r := &request{Name: "<input>"}
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, optionError{fmt.Errorf("option %s: expected another type than %s", strings.TrimPrefix(kind.Field, "trim."), kind.Value)}
		}
		return nil, optionError{fmt.Errorf("unknown option %s", strings.TrimPrefix(err.Error(), "json: unknown field "))}
	}
	if operations[r.Operation] == nil {
		return nil, optionError{unknown("operation", r.Operation, slices.Sorted(maps.Keys(operations)))}
	}
	return r, nil
}

// settings returns the options of a request as those of the engine.
func (r *request) settings() (engine.FixOptions, error) {
	o, err := r.options()
	if err != nil {
		err = optionError{err}
	}
	return o, err
}

func (r *request) options() (o engine.FixOptions, err error) {
	o.Address, o.Request, o.Send, o.Edits = r.Address, r.Request, r.Send, r.Edits
	o.Severity, o.Strategy = map[string]rules.Severity{}, r.Strategies
	o.StripReasoning = r.StripReasoning
	if o.Strategy == nil {
		o.Strategy = map[string]string{}
	}
	if r.Format != "" {
		if o.Dialect, err = names.Program.Format(dialect.Builtin(), r.Format); err != nil {
			return o, err
		}
	}
	if r.Request && (o.Dialect == nil || o.Dialect.Body == nil) {
		return o, errors.New("option request needs the format of an API, such as anthropic, openai-chat, openai-responses or gemini")
	}
	if r.Provider != "" {
		if o.Target, err = names.Program.Provider(r.Provider); err != nil {
			return o, err
		}
	}
	if len(r.Tools) > 0 && string(r.Tools) != "null" {
		if o.Tools, err = schema.Parse(r.Tools); err != nil {
			return o, fmt.Errorf("tools: %w", err)
		}
	}
	if err := names.Program.Rules(slices.Concat(r.Select, r.Ignore)); err != nil {
		return o, err
	}
	o.Rules, o.Explicit = rules.Select(r.Select, r.Ignore)
	for _, name := range slices.Sorted(maps.Keys(r.Severity)) {
		if o.Severity[name], err = names.Program.Severity(name, r.Severity[name]); err != nil {
			return o, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Strategies)) {
		if err := names.Program.Strategy(name, r.Strategies[name]); err != nil {
			return o, err
		}
	}
	switch classes := []string{"safe", "additive", "unsafe"}; r.Allow {
	case "", "additive":
	case "safe":
		o.SafeOnly = true
	case "unsafe":
		o.Unsafe = true
	default:
		return o, unknown("class", r.Allow, classes)
	}
	for _, name := range r.AllowFor {
		if _, err := names.Program.Rule(name); err != nil {
			return o, err
		}
		if o.AnyClass == nil {
			o.AnyClass = map[string]bool{}
		}
		o.AnyClass[name], o.Keep = true, true
	}
	if r.Placeholder != nil {
		if strings.TrimSpace(*r.Placeholder) == "" {
			return o, errors.New("the placeholder is empty")
		}
		o.Placeholder = *r.Placeholder
	}
	return o, nil
}

// cut returns what trim is to keep.
func (t *trimming) cut() (*trim.Request, error) {
	r := &trim.Request{
		KeepLast: t.KeepLast, KeepLastUser: t.KeepLastUser, Target: t.TargetIndex, KeepFirst: t.KeepFirst, MaxBytes: t.MaxBytes,
		MaxTokens: t.MaxTokens, Newer: t.Prefer == "newer", Pin: t.Pin, ResultsMax: t.ResultsMaxBytes, KeepResults: 3,
	}
	if t.KeepResults != nil {
		r.KeepResults = *t.KeepResults
	}
	if t.Prefer != "" && t.Prefer != "older" && t.Prefer != "newer" {
		return nil, optionError{unknown("value of prefer", t.Prefer, []string{"older", "newer"})}
	}
	if t.Boundary != "" {
		i := slices.Index(trim.Boundaries(), t.Boundary)
		if i < 0 {
			return nil, optionError{unknown("boundary", t.Boundary, trim.Boundaries())}
		}
		r.Boundary = trim.Boundary(i)
	}
	if t.Counts {
		r.Count = func(text []byte) (float64, error) {
			n := count(unsafe.Pointer(unsafe.SliceData(text)), uint32(len(text)))
			if !(n >= 0) { // it is not a number if the host has none
				return 0, optionError{errors.New("option count: expected a number of tokens from 0")}
			}
			return n, nil
		}
	}
	if err := r.Validate(func(field string) string { return fieldNames[field] }); err != nil {
		return nil, optionError{err}
	}
	return r, nil
}

// fieldNames are the names of options by those of the fields of a trim.Request.
var fieldNames = map[string]string{
	"KeepLast": "keepLast", "KeepLastUser": "keepLastUser", "Target": "targetIndex", "KeepFirst": "keepFirst", "MaxBytes": "maxBytes",
	"MaxTokens": "maxTokens", "Pin": "pin", "KeepResults": "keepResults", "ResultsMax": "resultsMaxBytes", "Boundary": "boundary",
}

// unknown returns the error for an unknown name.
func unknown(what, name string, known []string) error {
	return suggest.Unknown(what, name, known, "expected one of "+strings.Join(known, ", "))
}
