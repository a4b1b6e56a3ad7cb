// Package source reads files as bytes: sources, spans, records, values and positions. It
// understands JSON as text and knows nothing about messages.
package source
