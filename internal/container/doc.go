// Package container reads the elements of each conversation of a file, in order. It supports
// every way of storing them: a document, lines, one conversation per line, an event log, a
// linked log, a folding log, a patched log and the rows of a table. Package detect decides
// which of these a file is. Package container does not judge what is right or wrong.
//
// Everything is an iter.Seq2 of a value and an error, and wraps another sequence:
//
//	records ─► folding, patched, chained ─► sequence, log ─► conversations
//
// A records yields the messages in the records of the source. The wrappers in the middle
// yield elements. folding drops elements that later ones replace, patched yields the elements
// of a document that is stored as a log of changes, and chained puts the records of a linked
// log after their parents. A sequence or a log builds a conversation from the elements.
//
// With range functions, each wrapper is an ordinary loop. Its state is in local variables,
// and it needs no goroutine and no Close method. A receiver that has enough breaks out of its
// loop, which ends all loops below. An error is always the last element, and each wrapper
// passes it on.
package container
