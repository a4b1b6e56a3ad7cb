package arrow

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A Writer copies rows of a file to another one, batch by batch. A batch all of whose rows are copied keeps its
// bytes.
type Writer struct {
	f   *File
	out io.Writer
	few bool // only the rows that are named are copied
	at  int64
	err error

	group  int   // the current batch
	before int64 // the rows before it
	row    int64 // the next row of it
	parts  []part
	edited bool // there is a part that is not as it was

	cursor  cursor
	sent    int // of the other messages
	blocks  [2][]block
	encoder map[int]*ipc.Writer // by codec
}

// A part is rows of the current batch that follow each other, or a repaired one.
type part struct {
	from, to int64
	row      Row
}

// Rest implements lines.File.
func (f *File) Rest(out io.Writer, _ string) lines.Writer {
	return &Writer{f: f, out: out, cursor: cursor{f: f}, encoder: map[int]*ipc.Writer{}}
}

// Few implements lines.File.
func (f *File) Few(out io.Writer, _ string) lines.Writer {
	return &Writer{f: f, out: out, few: true, cursor: cursor{f: f}, encoder: map[int]*ipc.Writer{}}
}

// Except implements lines.Writer.
func (w *Writer) Except(row int64) error {
	return w.do(row, func() { w.take(1, w.few) })
}

// Replace implements lines.Writer.
func (w *Writer) Replace(row int64, by lines.Row) error {
	return w.do(row, func() {
		w.parts = append(w.parts, part{w.row, w.row + 1, by.(Row)})
		w.row, w.edited = w.row+1, true
	})
}

// do goes to a row, and does something with it.
func (w *Writer) do(row int64, f func()) error {
	if w.err == nil {
		w.err = w.contained(func() error {
			for w.group < len(w.f.batches) && row >= w.before+w.rows() {
				if err := w.end(); err != nil {
					return err
				}
			}
			if w.group < len(w.f.batches) {
				w.take(row-w.before-w.row, !w.few)
				f()
			}
			return nil
		})
	}
	return w.err
}

// take copies or leaves out the next rows.
func (w *Writer) take(n int64, keep bool) {
	from := w.row
	w.row += n
	if last := len(w.parts) - 1; keep && last >= 0 && w.parts[last].to == from && w.parts[last].row == nil {
		w.parts[last].to = w.row
	} else if keep && n > 0 {
		w.parts = append(w.parts, part{from: from, to: w.row})
	}
}

// current returns the message of the current batch.
func (w *Writer) current() *message { return &w.f.others[w.f.batches[w.group]] }

// rows returns how many rows it has.
func (w *Writer) rows() int64 { return w.current().rows }

// contained calls f and says in its error where it was.
func (w *Writer) contained(f func() error) error {
	err := contain.Do(f)
	var out *writeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &out):
		return out.error
	case contain.From(err) != nil:
		err = errors.New("not written: its parts contradict each other")
	}
	return fmt.Errorf("%s: %s %d: %w", w.f.Path(), w.f.Group(), w.group+1, err)
}

// end ends the current batch.
func (w *Writer) end() error {
	m, n := w.current(), w.rows()
	w.take(n-w.row, !w.few)
	whole := !w.edited && len(w.parts) == 1 && w.parts[0].from == 0 && w.parts[0].to == n
	var err error
	switch {
	case whole, n == 0 && !w.few:
		if err = w.start(w.f.batches[w.group]); err == nil {
			err = w.copy(m)
		}
	case len(w.parts) > 0:
		if err = w.start(w.f.batches[w.group]); err == nil {
			err = w.encode(m)
		}
	}
	if err != nil {
		return err
	}
	w.group, w.before, w.row, w.parts, w.edited = w.group+1, w.before+n, 0, w.parts[:0], false
	return nil
}

// A writeError is an error of the output. It has its path already.
type writeError struct{ error }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	w.at += int64(n)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// start writes what is before a message: the schema, and the dictionaries.
func (w *Writer) start(before int) error {
	if w.at == 0 {
		if w.f.footer != nil {
			if _, err := io.WriteString(w, magic+"\x00\x00"); err != nil {
				return err
			}
		}
		if err := w.copyBytes(w.f.head.at, w.f.head.end); err != nil {
			return err
		}
	}
	for ; w.sent < before; w.sent++ {
		if m := &w.f.others[w.sent]; m.kind == kindDictionary {
			if err := w.copy(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy copies a message.
func (w *Writer) copy(m *message) error {
	if err := w.align(); err != nil {
		return err
	}
	w.note(m.kind, block{w.at, m.body - m.at, m.end - m.body})
	return w.copyBytes(m.at, m.end)
}

func (w *Writer) copyBytes(from, to int64) error {
	_, err := io.Copy(w, io.NewSectionReader(w.f, from, to-from))
	return err
}

// align adds what is missing to a multiple of eight bytes, where files have their messages.
func (w *Writer) align() error {
	if w.f.footer == nil {
		return nil
	}
	_, err := w.Write(make([]byte, -w.at&7))
	return err
}

// note notes where a message is.
func (w *Writer) note(kind byte, b block) {
	of := &w.blocks[kind-kindDictionary]
	*of = append(*of, b)
}

// encode writes the rows of the current batch that are copied.
func (w *Writer) encode(m *message) error {
	batch, err := w.cursor.batch(w.group)
	if err != nil {
		return err
	}
	n := int64(0)
	for _, p := range w.parts {
		n += p.to - p.from
	}
	var columns []arrow.Array
	for i, column := range batch.Columns() {
		var list []arrow.Array
		for _, p := range w.parts {
			if by := p.row[i]; by != nil {
				list = append(list, by)
			} else {
				list = append(list, array.NewSlice(column, p.from, p.to))
			}
		}
		joined, err := array.Concatenate(list, memory.DefaultAllocator)
		if err != nil {
			return fmt.Errorf("column %s: rows of the type %s cannot be copied one by one", w.f.schema.Field(i).Name, column.DataType())
		}
		if !sameDictionaries(joined.Data(), column.Data()) {
			return fmt.Errorf("column %s: its dictionary would change", w.f.schema.Field(i).Name)
		}
		columns = append(columns, joined)
	}
	var meta arrow.Metadata
	if with, is := batch.(arrow.RecordBatchWithMetadata); is {
		meta = with.Metadata()
	}
	if err := w.align(); err != nil {
		return err
	}
	err = w.encoderOf(m.codec).Write(array.NewRecordBatchWithMetadata(w.f.schema, columns, n, meta))
	if err != nil && !errors.As(err, new(*writeError)) {
		err = errors.New("its rows cannot be encoded")
	}
	return err
}

// sameDictionaries reports whether numbers stand for the same values in two arrays of one type. The dictionaries of the
// file are not written anew.
func sameDictionaries(a, b arrow.ArrayData) bool {
	if a.DataType().ID() == arrow.DICTIONARY {
		return array.Equal(array.MakeFromData(a.Dictionary()), array.MakeFromData(b.Dictionary()))
	}
	return slices.EqualFunc(a.Children(), b.Children(), sameDictionaries)
}

// encoderOf returns what encodes batches with a codec.
func (w *Writer) encoderOf(codec int) *ipc.Writer {
	if w.encoder[codec] == nil {
		options := []ipc.Option{ipc.WithSchema(w.f.schema)}
		switch codec {
		case codecLZ4:
			options = append(options, ipc.WithLZ4())
		case codecZstd:
			options = append(options, ipc.WithZstd())
		}
		w.encoder[codec] = ipc.NewWriterWithPayloadWriter(&batches{w}, options...)
	}
	return w.encoder[codec]
}

// A batches passes on the batches of what the library writes.
type batches struct{ w *Writer }

// Start implements ipc.PayloadWriter.
func (*batches) Start() error { return nil }

// Close implements ipc.PayloadWriter.
func (*batches) Close() error { return nil }

// WritePayload implements ipc.PayloadWriter.
func (b *batches) WritePayload(p ipc.Payload) error {
	meta := root(p.Meta().Bytes())
	if meta.GetByteSlot(slot(messageKind), 0) != kindBatch {
		return nil // the schema and the dictionaries are copied
	}
	at, body := b.w.at, meta.GetInt64Slot(slot(messageBody), 0)
	if _, err := p.WritePayload(b.w); err != nil {
		return err
	}
	b.w.note(kindBatch, block{at, b.w.at - at - body, body})
	return nil
}

// Close implements lines.Writer.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.contained(func() error {
			for w.group < len(w.f.batches) {
				if err := w.end(); err != nil {
					return err
				}
			}
			if err := w.start(len(w.f.others)); err != nil {
				return err
			}
			return w.finish()
		})
	}
	return w.err
}

// finish writes what is behind the batches: the mark at the end, and the footer with the new places.
func (w *Writer) finish() error {
	f := w.f
	if f.footer == nil {
		if f.marked == 0 {
			return nil
		}
		last := f.head.end
		if n := len(f.others); n > 0 {
			last = f.others[n-1].end
		}
		return w.copyBytes(last, f.marked)
	}
	if err := w.align(); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\xff\xff\xff\xff\x00\x00\x00\x00"); err != nil {
		return err
	}
	footer := root(append([]byte(nil), f.footer...))
	for i, field := range []int{footerDictionaries, footerBatches} {
		elements, at := footer.vector(field, blockSize)
		if len(w.blocks[i])*blockSize > len(elements) {
			return errBatch
		}
		for j, b := range w.blocks[i] {
			b.put(elements[j*blockSize:])
		}
		if at > 0 {
			footer.shorten(at, len(w.blocks[i]))
		}
	}
	if _, err := w.Write(footer.Bytes); err != nil {
		return err
	}
	return w.copyBytes(f.footerAt+int64(len(f.footer)), f.Size())
}
