package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// blockSize is how many bytes of a source are in one block.
const blockSize = 1 << 20

// A packer packs one block after another.
type packer struct{ gzip *gzip.Writer }

// pack writes text compressed and in base64, which no markup ends.
func (p *packer) pack(w io.Writer, text []byte) error {
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	if p.gzip == nil {
		p.gzip, _ = gzip.NewWriterLevel(nil, gzip.DefaultCompression)
	}
	p.gzip.Reset(encoder)
	if _, err := p.gzip.Write(text); err != nil {
		return err
	}
	if err := p.gzip.Close(); err != nil {
		return err
	}
	return encoder.Close()
}

// block writes a block with an id.
func (p *writer) block(id string, text []byte) {
	p.put(`<script type="text/plain" id="`, id, `">`)
	if p.err == nil {
		p.err = p.pack.pack(p.w, text)
	}
	p.put("</script>\n")
}

// json writes a block that holds a value.
func (p *writer) json(id string, v any) {
	text, err := json.Marshal(v)
	if p.err == nil {
		p.err = err
	}
	p.block(id, text)
}

// A raw is a source as blocks. Block i has the bytes from i*width on. If the source is too long, each
// string in it is shortened to at most longest bytes.
type raw struct {
	src     *source.Source
	most    int64
	width   int64
	longest int64 // 0 for whole strings
	left    bool  // out of the page
	state   shortener
	buf     []byte
}

func newRaw(src *source.Source, most int64) *raw {
	r := &raw{src: src, most: most, width: blockSize}
	if size := src.Size(); size > most {
		r.width *= (size + most - 1) / most
	}
	return r
}

func (r *raw) blocks() int {
	if r.left {
		return 0
	}
	return int((r.src.Size() + r.width - 1) / r.width)
}

// leastString is how many bytes of each string stay.
const leastString = 64

// measure chooses how long strings can be.
func (r *raw) measure() error {
	if r.src.Size() <= r.most {
		return nil
	}
	// lengths counts the strings of up to 1<<i bytes, sums what they hold together.
	var lengths, sums [64]int64
	var s shortener
	var rest int64
	for i := range r.blocks() {
		text, err := r.read(i)
		if err != nil {
			return err
		}
		s.strings(text, func(n int64) {
			b := 0
			for 1<<b < n {
				b++
			}
			lengths[b]++
			sums[b] += n
		})
	}
	rest = r.src.Size()
	for _, n := range sums {
		rest -= n
	}
	r.longest = 1 << 40
	for ; r.longest > leastString; r.longest /= 2 {
		total := rest
		for b := range sums {
			total += min(sums[b], lengths[b]*r.longest)
		}
		if total <= r.most {
			break
		}
	}
	return nil
}

// read returns the bytes of a block. They are valid until the next call.
func (r *raw) read(i int) ([]byte, error) {
	from := int64(i) * r.width
	var err error
	r.buf, err = r.src.Into(r.buf, source.Span{Start: from, End: min(from+r.width, r.src.Size())})
	return r.buf, err
}

// payload writes the blocks of a source from lo to hi. The first line of each has the parts that it
// holds: where each begins in the source, and its length.
func (p *writer) payload(r *raw, lo, hi int) {
	var out bytes.Buffer
	for i := lo; i < min(hi, r.blocks()) && p.err == nil; i++ {
		text, err := r.read(i)
		if err != nil {
			p.err = err
			return
		}
		parts := []int64{int64(i) * r.width, int64(len(text))}
		if r.longest > 0 {
			text, parts = r.state.shorten(text, int64(i)*r.width, r.longest)
		}
		out.Reset()
		if err := json.NewEncoder(&out).Encode(parts); err != nil {
			p.err = err
			return
		}
		out.Write(text)
		p.block("p"+strconv.Itoa(i), out.Bytes())
	}
}

// A shortener finds the strings of JSON in a text that comes in pieces, also if it is not valid. A
// line feed ends a string, since none is in one.
type shortener struct {
	in, escape bool
	length     int64 // of the string so far
}

// strings calls each with the length of each string that ends in a piece.
func (s *shortener) strings(text []byte, each func(length int64)) {
	for _, c := range text {
		switch {
		case !s.in:
			if c == '"' {
				s.in, s.length = true, 0
			}
			continue
		case s.escape:
			s.escape = false
		case c == '\\':
			s.escape = true
		case c == '"', c == '\n':
			s.in = false
			each(s.length)
			continue
		}
		s.length++
	}
}

// shorten returns a piece, which begins at base, without the ends of strings that are longer than
// most, and the parts that are left.
func (s *shortener) shorten(text []byte, base, most int64) (out []byte, parts []int64) {
	from := -1 // where the part begins that is kept
	keep := func(i int, kept bool) {
		switch {
		case kept && from < 0:
			from = i
		case !kept && from >= 0:
			out, parts, from = append(out, text[from:i]...), append(parts, base+int64(from), int64(i-from)), -1
		}
	}
	for i, c := range text {
		if s.in && (s.escape || c != '"' && c != '\n') {
			s.escape = !s.escape && c == '\\'
			s.length++
			keep(i, s.length <= most)
			continue
		}
		switch c {
		case '"':
			s.in, s.length = !s.in, 0
		case '\n':
			s.in = false
		}
		keep(i, true)
	}
	keep(len(text), false)
	return out, parts
}

// pieces are a repaired source: each is a part of the original, or of the text that was inserted.
type pieces struct {
	// list has for each piece where it begins, its length, and where it begins in the original, or
	// -1 minus where it begins in text.
	list [][3]int64
	text []byte
	size int64
	// gone are the parts of the original that are not in it.
	gone []source.Span
}

// cut returns a source of some size after edits.
func cut(edits []edit.Edit, size int64) *pieces {
	p := &pieces{}
	at := int64(0)
	copied := func(end int64) {
		if end > at {
			p.list = append(p.list, [3]int64{p.size, end - at, at})
			p.size += end - at
		}
	}
	for _, e := range edits {
		copied(e.Span.Start)
		if n := int64(len(e.Text)); n > 0 {
			p.list = append(p.list, [3]int64{p.size, n, -1 - int64(len(p.text))})
			p.text = append(p.text, e.Text...)
			p.size += n
		}
		if e.Span.Len() > 0 {
			p.gone = append(p.gone, e.Span)
		}
		at = e.Span.End
	}
	copied(size)
	return p
}

// isNew reports whether text that was inserted is in a part of the repaired source.
func (p *pieces) isNew(at source.Span) bool {
	for i := p.after(at.Start); i < len(p.list) && p.list[i][0] < at.End; i++ {
		if p.list[i][2] < 0 {
			return true
		}
	}
	return false
}

// after returns the first piece that ends after an offset.
func (p *pieces) after(offset int64) int {
	lo, hi := 0, len(p.list)
	for lo < hi {
		mid := (lo + hi) / 2
		if p.list[mid][0]+p.list[mid][1] > offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// inserted writes the text that was inserted.
func (p *writer) inserted(made *pieces) {
	if p.opts.NoPayload {
		return
	}
	for i := 0; i*blockSize < len(made.text); i++ {
		from := i * blockSize
		text := made.text[from:min(from+blockSize, len(made.text))]
		head := "[" + strconv.Itoa(from) + "," + strconv.Itoa(len(text)) + "]\n"
		p.block("q"+strconv.Itoa(i), append([]byte(head), text...))
	}
}
