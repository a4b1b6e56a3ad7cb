package redact

import (
	"bytes"
	std "encoding/base64"
	"encoding/binary"
)

// imageHeader returns the start of an image of the same type and the same size in pixels as the
// image whose encoded start is given, encoded, or nothing if it is no image. It is made from the
// type and the size alone.
func imageHeader(head []byte) []byte {
	b := make([]byte, len(head))
	n, _ := std.StdEncoding.Decode(b, head[:len(head)/4*4])
	b = b[:n]
	be, le := binary.BigEndian, binary.LittleEndian
	var out []byte
	switch {
	case len(b) >= 24 && bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		out = append(out, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"...)
		out = append(out, b[16:24]...)
	case len(b) >= 10 && (bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))):
		out = append(append(out, "GIF89a"...), b[6:10]...)
	case len(b) >= 30 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP":
		var w, h uint32
		switch string(b[12:16]) {
		case "VP8 ":
			w, h = uint32(le.Uint16(b[26:])&0x3fff), uint32(le.Uint16(b[28:])&0x3fff)
		case "VP8L":
			bits := le.Uint32(b[21:])
			w, h = bits&0x3fff+1, bits>>14&0x3fff+1
		case "VP8X":
			w, h = le.Uint32(b[24:])&0xffffff+1, le.Uint32(b[26:])>>8+1
		default:
			return nil
		}
		out = append(out, "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"...)
		out = le.AppendUint32(out, w-1)
		out = le.AppendUint32(out[:len(out)-1], h-1)
		out = out[:len(out)-1]
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		for i := 2; i+9 <= len(b) && b[i] == 0xff; i += 2 + int(be.Uint16(b[i+2:])) {
			if m := b[i+1]; m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc {
				out = append(out, "\xff\xd8\xff\xc0\x00\x11\x08"...)
				out = append(append(out, b[i+5:i+9]...), 3)
				break
			}
		}
	}
	for len(out)%3 != 0 {
		out = append(out, 0)
	}
	return std.StdEncoding.AppendEncode(nil, out)
}
