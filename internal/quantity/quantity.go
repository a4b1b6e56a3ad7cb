// Package quantity reads sizes and other numbers in the values of flags, as people write them. It
// does not know which flags there are.
package quantity

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Bytes is the value of a flag: a number of bytes, such as 1000000, 500MiB or 4G.
type Bytes int64

// sizeUnits are the units of a size, as they are written after the number.
var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
}

// Set implements pflag.Value.
func (s *Bytes) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, strings.ToUpper(u.suffix)); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, ok := wholeNumber(number, unit)
	if !ok {
		return errors.New("expected a size, such as 4000, 200KB or 500MiB")
	}
	*s = Bytes(n)
	return nil
}

// String implements pflag.Value. It is "" for 0, which stands for no value.
func (s *Bytes) String() string {
	switch {
	case *s == 0:
		return ""
	case *s%(1<<20) == 0:
		return strconv.FormatInt(int64(*s)>>20, 10) + "MiB"
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type implements pflag.Value.
func (s *Bytes) Type() string { return "size" }

// Tokens is the value of a flag: a number of tokens, such as 60000, 60k or 1M.
type Tokens int64

// Set implements pflag.Value.
func (c *Tokens) Set(text string) error {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for suffix, n := range map[string]int64{"K": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, n
			break
		}
	}
	n, ok := wholeNumber(number, unit)
	if !ok {
		return errors.New("expected a number of tokens, such as 60000 or 60k")
	}
	*c = Tokens(n)
	return nil
}

// String implements pflag.Value. It is "" for 0, which stands for no value.
func (c *Tokens) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*c), 10)
}

// Type implements pflag.Value.
func (c *Tokens) Type() string { return "tokens" }

// wholeNumber returns a number from 1 times a unit. Groups of three digits may be separated, as
// reports write them (60,000) or as programs do (60_000).
func wholeNumber(text string, unit int64) (int64, bool) {
	for _, separator := range []string{",", "_"} {
		groups := strings.Split(text, separator)
		if len(groups) == 1 {
			continue
		}
		for i, g := range groups {
			if len(g) > 3 || len(g) == 0 || i > 0 && len(g) < 3 {
				return 0, false
			}
		}
		text = strings.Join(groups, "")
		break
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
