// Package transcript holds the neutral model of a transcript: conversations, messages,
// blocks, calls and results, each with the span of the source that it was read from.
//
// It knows no vendor's JSON. Package dialect knows which field holds a call.
package transcript
