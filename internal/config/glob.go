package config

import (
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

// mostGlobs is how many globs without groups one with groups may stand for: each
// group multiplies them, and a match tries them all.
const mostGlobs = 1000

// CheckGlob returns an error for a text that is no glob, or that stands for too
// many.
func CheckGlob(glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%q is no glob", glob)
	}
	n, open := 1, []int(nil) // how many alternatives each open group has so far
	for i := 0; i < len(glob); i++ {
		switch last := len(open) - 1; glob[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last < 0 {
				break
			}
			if n *= open[last]; n > mostGlobs {
				return fmt.Errorf("%q stands for more than %d globs: its groups multiply", glob, mostGlobs)
			}
			open = open[:last]
		}
	}
	return nil
}
