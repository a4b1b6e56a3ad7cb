// Package table knows Parquet files: their rows as lines of JSON, and how rows are copied to another file
// with the same values, types, codecs and metadata. It does not know what the rows mean.
//
// A library encodes and decodes pages. Everything that a file says about itself is read and checked here
// first, because the library trusts it, and the footer of a copy has the very bytes of the original: the
// library would write the schema in its own words.
package table
