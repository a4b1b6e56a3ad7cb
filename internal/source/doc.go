// Package source knows files as bytes: sources, spans, records, values and
// positions. It knows JSON as text, and no messages.
package source
