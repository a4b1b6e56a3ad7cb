// Package container reads the elements of each conversation of a file, in order. It supports
// every way of storing them: a document, lines, one conversation per line, an event log, a
// linked log, a folding log, a patched log and the rows of a table. Package detect decides
// which of these a file is. Package container does not judge what is right or wrong.
//
// Everything is an iter.Seq2 of a value and an error, and wraps another sequence:
//
//	records ─► folding, patched ─► sequence, log ─► conversations
//
// A records yields the messages in the records of the source, and within yields the values of
// one array. The wrappers in the middle yield elements. folding drops elements that later ones
// replace, and patched yields the elements of a document that is stored as a log of changes.
// A sequence or a log builds a conversation from the elements. Three functions choose the
// elements: whole reads all records of a file into one conversation, table distributes rows to
// sessions, and documents reads conversations inside records.
//
// The records of a log name their parents. A chain holds these links, and walks along all of them
// up to the root or from the roots down. A placed says where a record is, so that it can be read
// again instead of being held.
//
// With range functions, each wrapper is an ordinary loop. Its state is in local variables,
// and it needs no goroutine and no Close method. A receiver that has enough breaks out of its
// loop, which ends all loops below. An error is always the last element. The function each
// passes elements on up to the first error.
package container
