// Package arrow knows Arrow files and streams: their rows as lines of JSON, and how rows are copied to another file
// of the same kind. It does not know what the rows mean.
//
// A library decodes and encodes record batches. What a file says about sizes is read and checked here first, because
// the library trusts it. A copy has the very bytes of the schema, the dictionaries and the footer, and of the batches
// in which no row changes.
package arrow
