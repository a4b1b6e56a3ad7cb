package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/picture"
)

// flat is an image of one colour.
func flat(w, h int) image.Image {
	return image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
}

// encodings are images of a size as real encoders write them.
func encodings(t *testing.T, w, h int) map[string][]byte {
	t.Helper()
	var p, j, g bytes.Buffer
	for name, err := range map[string]error{
		"png": png.Encode(&p, flat(w, h)), "jpeg": jpeg.Encode(&j, flat(w, h), nil), "gif": gif.Encode(&g, flat(w, h), nil),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes()}
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// want compares the header of an image with the one it should have.
func want(t *testing.T, text string, h picture.Header) {
	t.Helper()
	got, ok := picture.Start([]byte(text))
	if !ok || got != h {
		t.Errorf("read %v, %v; want %v", got, ok, h)
	}
}

// none expects that an image has no header.
func none(t *testing.T, what, text string) {
	t.Helper()
	if got, ok := picture.Start([]byte(text)); ok {
		t.Errorf("%s: read %v", what, got)
	}
}

// TestEncoders: the sizes are those that the encoders wrote.
func TestEncoders(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {17, 3}, {9000, 200}, {200, 9000}, {2001, 1}, {4096, 300}} {
		for kind, b := range encodings(t, size[0], size[1]) {
			c, format, err := image.DecodeConfig(bytes.NewReader(b))
			if err != nil || "image/"+format != kind || c.Width != size[0] || c.Height != size[1] {
				t.Fatal(kind, c, err)
			}
			h := picture.Header{Type: kind, Width: size[0], Height: size[1]}
			want(t, encode(b), h)
			want(t, "data:"+kind+";base64,"+encode(b), h)
			want(t, `data:image\/png;name=a.png;base64,`+encode(b), h) // the bytes count, not the name
			want(t, strings.ReplaceAll(encode(b), "/", `\/`), h)
			want(t, strings.NewReplacer("+", `\u002B`, "/", `\u002f`).Replace(encode(b)), h)
			want(t, base64.RawURLEncoding.EncodeToString(b), h)
			want(t, strings.Join(lines(encode(b), 76), `\r\n`), h)
			// No more than the header is needed.
			want(t, encode(b)[:min(len(encode(b)), 1200)], h)
		}
	}
}

// lines cuts a text into lines of n characters.
func lines(s string, n int) (out []string) {
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

// TestPieces: it does not matter where the text is cut into pieces.
func TestPieces(t *testing.T) {
	for kind, b := range encodings(t, 9000, 20) {
		text := "data:" + kind + `;base64,` + strings.ReplaceAll(encode(b), "/", `\/`)
		for n := 1; n < 40; n++ {
			rest := text
			got, ok := picture.Read(func() []byte {
				piece := rest[:min(n, len(rest))]
				rest = rest[len(piece):]
				return []byte(piece)
			})
			if (got != picture.Header{Type: kind, Width: 9000, Height: 20}) || !ok {
				t.Errorf("pieces of %d: read %v, %v", n, got, ok)
			}
		}
	}
}

// segment is a segment of a JPEG image.
func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// TestJPEG: the frame is found behind other segments, and whatever its coding.
func TestJPEG(t *testing.T) {
	plain := encodings(t, 8001, 16)["image/jpeg"]
	h := picture.Header{Type: "image/jpeg", Width: 8001, Height: 16}
	exif := segment(0xe1, append([]byte("Exif\x00\x00"), bytes.Repeat([]byte{0xff, 0xc0, 0}, 20_000)...))
	behind := func(parts ...[]byte) []byte {
		return bytes.Join([][]byte{plain[:2], bytes.Join(parts, nil), plain[2:]}, nil)
	}
	for name, b := range map[string][]byte{
		"EXIF of 60 KB":    behind(exif),
		"twelve segments":  behind(bytes.Repeat(exif, 12)),
		"filler":           behind([]byte{0xff, 0xff, 0xff}),
		"without a length": behind([]byte{0xff, 0x01}),
	} {
		if c, err := jpeg.DecodeConfig(bytes.NewReader(b)); name != "without a length" && (err != nil || c.Width != 8001) {
			t.Fatal(name, c, err)
		}
		t.Run(name, func(t *testing.T) { want(t, encode(b), h) })
	}
	for _, frame := range []byte{0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xca, 0xcf} { // 0xc2 is a progressive image
		b := bytes.Replace(behind(exif), []byte{0xff, 0xc0, 0, 0x0b}, []byte{0xff, frame, 0, 0x0b}, 1)
		b = bytes.Replace(b, []byte{0xff, 0xc0, 0, 0x11}, []byte{0xff, frame, 0, 0x11}, 1)
		if bytes.Equal(b, behind(exif)) {
			t.Fatal("the frame was not found")
		}
		want(t, encode(b), h)
	}
	none(t, "EXIF is cut", encode(behind(exif)[:50_000]))
	none(t, "too far behind", encode(behind(bytes.Repeat(exif, 40))))
	none(t, "a segment of length 1", encode(behind([]byte{0xff, 0xe1, 0, 1})))
	none(t, "no segment", encode(behind([]byte{0x12, 0x34})))
	none(t, "the scan comes first", encode(behind(segment(0xda, []byte{1, 2, 3}))))
	none(t, "the end comes first", encode(behind([]byte{0xff, 0xd9})))
	none(t, "a height that is set later", encode([]byte("\xff\xd8\xff\xc0\x00\x11\x08\x00\x00\x00\x10\x03")))
}

// riff is a WebP image that begins with a chunk.
func riff(fourCC string, data []byte) []byte {
	chunk := append(binary.LittleEndian.AppendUint32([]byte(fourCC), uint32(len(data))), data...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(chunk)+4)), append([]byte("WEBP"), chunk...)...)
}

// TestWebP: the three formats of the specification.
func TestWebP(t *testing.T) {
	const w, h = 9001, 301
	lossy := append([]byte{0x30, 0x01, 0x00, 0x9d, 0x01, 0x2a}, byte(w&0xff), byte(w>>8)|0x40, byte(h&0xff), byte(h>>8)|0x80) // with scales
	bits := uint32(w-1) | uint32(h-1)<<14 | 1<<28
	lossless := binary.LittleEndian.AppendUint32([]byte{0x2f}, bits)
	extended := []byte{0x10, 0, 0, 0, (w - 1) & 0xff, (w - 1) >> 8, 0, (h - 1) & 0xff, (h - 1) >> 8, 0}
	is := picture.Header{Type: "image/webp", Width: w, Height: h}
	want(t, encode(riff("VP8 ", lossy)), is)
	want(t, encode(riff("VP8L", lossless)), is)
	want(t, encode(riff("VP8X", extended)), is)
	want(t, encode(riff("VP8X", []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0})), picture.Header{Type: "image/webp", Width: 1 << 24, Height: 1})
	none(t, "another chunk", encode(riff("ALPH", extended)))
	none(t, "no key frame", encode(riff("VP8 ", bytes.Replace(lossy, []byte{0x9d}, []byte{0x9e}, 1))))
	none(t, "another signature", encode(riff("VP8L", bytes.Replace(lossless, []byte{0x2f}, []byte{0x2e}, 1))))
	none(t, "a sound", encode(append([]byte("RIFF\x10\x00\x00\x00WAVEfmt "), make([]byte, 40)...)))
}

// TestNone: what is cut off, and what is no image, has no header.
func TestNone(t *testing.T) {
	for kind, b := range encodings(t, 300, 300) {
		head := 24
		if kind == "image/gif" {
			head = 10
		}
		for n := range head {
			none(t, fmt.Sprint(kind, " cut at ", n), encode(b[:n]))
		}
	}
	for _, text := range []string{
		"", "data:", "data:image/png;base64,", "https://example.com/a.png", "hello, world", encode([]byte("%PDF-1.7 ...............")),
		strings.Repeat("A", 100), `\`, `\u`, `\u00`, `data:\u`, "iVBORw0KGgo", encode([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x04CgBI\x50\x00\x20\x02........")),
		encode([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x00\x00\x00\x00\x10")), "data:" + strings.Repeat("x", 1000),
		encode([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xff\xff\xff\x00\x00\x00\x10")),
	} {
		none(t, text, text)
	}
}

// TestReadsLittle: a header is read without the pieces behind it, and the search for one ends.
func TestReadsLittle(t *testing.T) {
	read := func(start []byte, size int) (pieces int) {
		picture.Read(func() []byte {
			if pieces++; pieces == 1 {
				return []byte(encode(start))
			}
			return bytes.Repeat([]byte("/9j/"), size/4)
		})
		return pieces
	}
	for kind, b := range encodings(t, 5000, 5000) {
		if n := read(b[:900], 1000); n != 1 {
			t.Errorf("%s: %d pieces were read", kind, n)
		}
	}
	// Each segment is 64 KB long, and another one follows.
	if n := read([]byte("\xff\xd8\xff\xe1\xff\xff....")[:9], 3000); n > 1000 {
		t.Errorf("the search took %d pieces of 3 KB", n)
	}
}

// FuzzRead: no text makes the reader panic or read without an end, and an image that Go can read
// has the size that Go reads.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, flat(3, 2)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	b.Reset()
	if err := jpeg.Encode(&b, flat(3, 2), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	b.Reset()
	if err := gif.Encode(&b, flat(3, 2), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(riff("VP8X", make([]byte, 10)))
	f.Add([]byte("\xff\xd8\xff\xe1\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		picture.Start(b)
		pieces := 0
		picture.Read(func() []byte {
			if pieces++; pieces > 8<<20 {
				t.Fatal("the search does not end")
			}
			return b
		})
		got, ok := picture.Start([]byte(encode(b)))
		c, format, err := image.DecodeConfig(bytes.NewReader(b))
		if err == nil && c.Width > 0 && c.Height > 0 && ok && (got != picture.Header{Type: "image/" + format, Width: c.Width, Height: c.Height}) {
			t.Errorf("read %v; Go reads %s %v", got, format, c)
		}
	})
}
