// Package lines knows files whose rows are in groups as lines of JSON: what the formats of such files have in
// common. It does not know the formats, nor what the rows mean.
package lines

import "io"

// A File is a table that can be copied.
type File interface {
	Table
	// Size returns the size of the file, and Unchanged an error if it has changed since it was opened.
	Size() int64
	Unchanged() error
	Close() error
	// Only selects the columns that are read. Bytes in them of which the file does not say what they are are text.
	Only(columns []string) error
	// Rest returns a writer that copies all rows, except for those that are left out, and Few one that copies only
	// the rows that are named. The copy names its creator.
	Rest(out io.Writer, creator string) Writer
	Few(out io.Writer, creator string) Writer
	// Fit returns what a repaired row is in this file, and the row as it will be read. before and after are lines of
	// JSON. The error says why the row does not fit the columns.
	Fit(before, after []byte) (Row, []byte, error)
}

// A Row is a repaired row, as the file has it that made it by Fit.
type Row any

// A Writer copies rows. They are numbered from 0 and come in order.
type Writer interface {
	// Except leaves out a row, or copies it if the writer copies only the rows that are named.
	Except(row int64) error
	// Replace copies a row with other values.
	Replace(row int64, by Row) error
	// Close copies the rest and ends the file.
	Close() error
}
