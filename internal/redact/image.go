package redact

import (
	std "encoding/base64"
	"encoding/binary"

	"github.com/toolguard/toolguard/internal/picture"
)

// imageHeader returns the start of an image of the same type and the same size in pixels as the
// image whose encoded start is given, encoded, or nothing if it is no image. It is made from the
// type and the size alone.
func imageHeader(head []byte) []byte {
	h, ok := picture.Start(head)
	if !ok {
		return nil
	}
	be, le := binary.BigEndian, binary.LittleEndian
	w, height := uint32(h.Width), uint32(h.Height)
	var out []byte
	switch h.Type {
	case "image/png":
		out = be.AppendUint32(be.AppendUint32([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), w), height)
	case "image/gif":
		out = le.AppendUint16(le.AppendUint16([]byte("GIF89a"), uint16(w)), uint16(height))
	case "image/jpeg":
		out = be.AppendUint16(be.AppendUint16([]byte("\xff\xd8\xff\xc0\x00\x11\x08"), uint16(height)), uint16(w))
		out = append(out, 3)
	case "image/webp":
		out = append(out, "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"...)
		for _, side := range []uint32{w - 1, height - 1} {
			out = append(out, byte(side), byte(side>>8), byte(side>>16))
		}
	}
	for len(out)%3 != 0 {
		out = append(out, 0)
	}
	return std.StdEncoding.AppendEncode(nil, out)
}
