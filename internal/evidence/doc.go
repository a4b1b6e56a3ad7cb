// Package evidence recognizes formats of transcripts. It has conditions on values and
// tables that weigh them. A condition is a text in the syntax that users write to
// describe their own dialects.
//
// The package knows no dialect. Nested paths are evaluated by gjson, which is called only
// on values that the scanner has found valid. The first key of each path is looked up
// once for all conditions of a table.
package evidence
