// Package transcript knows files as bytes: sources, spans, records, values and
// positions. It also holds the neutral model of what a transcript says:
// conversations, messages, blocks, calls and results.
//
// It knows JSON as text. It knows no vendor's JSON: which member holds a call
// is the business of package dialect.
package transcript
