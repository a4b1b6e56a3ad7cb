// Package source reads files as bytes: sources, spans, records, values and positions. It
// understands JSON as text and knows nothing about messages.
//
// It has a scanner of its own, because the libraries do not tell where a broken record stops
// being valid, what was expected there, and where a record in the middle of a file ends.
package source
