// Package transcript holds the neutral model of what a transcript says:
// conversations, messages, blocks, calls and results, each with the span of the
// source that it was read from.
//
// It knows no vendor's JSON: which member holds a call is the business of package
// dialect.
package transcript
