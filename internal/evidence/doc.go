// Package evidence knows what speaks for a way to write a transcript: conditions
// on what stands in a value, and tables that weigh them. A condition is a text, in
// the syntax that people use who describe a dialect of their own.
//
// It knows no dialect. Nested paths are gjson's. It is asked only on what the
// scanner has read, which is valid, and only behind the first name of a path, which
// is looked up once for all conditions of a table.
package evidence
