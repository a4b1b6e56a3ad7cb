package config

import (
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

// mostGlobs limits the number of globs that the groups of a glob expand to. Each
// group multiplies that number, and a match tries them all.
const mostGlobs = 1000

// CheckGlob returns an error for an invalid glob, and for one that expands to too
// many globs.
func CheckGlob(glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%q is not a valid glob", glob)
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
				return fmt.Errorf("%q expands to more than %d globs", glob, mostGlobs)
			}
			open = open[:last]
		}
	}
	return nil
}
