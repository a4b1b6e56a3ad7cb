// Package container reads the elements of each conversation of a file, in order,
// for each way of keeping them: a document, lines, a conversation a line, an event
// log, a linked log, a folding log, a patched log, rows of a table. What the file is
// it is told by package detect. It does not know what is right or wrong.
//
// Everything is an iter.Seq2 of a value and an error that wraps another one:
//
//	records ─► folding, patched, chained ─► sequence, log ─► conversations
//
// Records yields what speaks in the records of the source. The wrappers in the
// middle yield elements: those that count of a log in which later ones replace
// earlier ones, those of a document that a log of changes makes, those of a linked
// log behind their parents. A sequence or a log makes a conversation of them.
//
// A range function is the loop that one would write without it: a way of keeping
// elements has its state in local variables, needs no goroutine and nothing to be
// closed. A receiver that has enough breaks out of its loop, and all loops below end.
// An error is the last thing that is yielded, and each wrapper hands it on.
package container
