// Package container reads the elements of each conversation of a file, in order,
// for each way of keeping them: a document, lines, a conversation a line, an event
// log, a linked log, a folding log, a patched log, rows of a table. What the file is
// it is told by package detect. It does not know what is right or wrong.
package container
