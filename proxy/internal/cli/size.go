package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A byteSize is a flag whose value is a number of bytes, such as 1000000, 500MiB or 4G.
type byteSize int64

// sizeUnits are the units of a size.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"B", 1},
}

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt32 && n > math.MaxInt64/unit || n*unit > 1<<40 {
		return errors.New("expected a size, such as 64MiB, of at most 1 TiB")
	}
	*s = byteSize(n * unit)
	return nil
}

// String implements pflag.Value.
func (s *byteSize) String() string {
	if *s%(1<<20) == 0 {
		return strconv.FormatInt(int64(*s)>>20, 10) + "MiB"
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type implements pflag.Value.
func (s *byteSize) Type() string { return "size" }
