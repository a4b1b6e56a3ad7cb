// Package suggest formats the error for an unknown name and suggests the one that was
// probably meant. It knows no names itself.
package suggest

import (
	"fmt"
	"strings"
)

// Unknown returns the error for a name that is not among known. list says where the known
// names are listed. It is used if no name is similar.
func Unknown(what, name string, known []string, list string) error {
	msg := fmt.Sprintf("unknown %s %q", what, name)
	if near := Nearest(name, known); near != "" {
		return fmt.Errorf("%s; did you mean %q?", msg, near)
	}
	return fmt.Errorf("%s; %s", msg, list)
}

// Nearest returns the known name with the fewest edits to name, or "" if none is similar.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, least := "", len(name)/2+1
	for _, k := range known {
		d := distance(name, k)
		// A name that contains the text is more likely than a short different name.
		switch {
		case len(name) < 4:
		case strings.HasPrefix(k, name):
			d = 0
		case strings.Contains(k, name):
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
