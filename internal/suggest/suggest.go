// Package suggest formats the error for an unknown name and suggests the one that was
// probably meant. It knows no names itself.
package suggest

import (
	"fmt"
	"slices"
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
	// A name that contains the text is more likely than a short different name.
	if found := Containing(name, known); len(found) > 0 && len(name) >= shortest {
		return found[0]
	}
	name = strings.ToLower(name)
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// shortest is the length of a word from which on it may be only a part of a word of a name.
const shortest = 4

// Containing returns the known names that contain all words of a text, in any order: those with
// whole words first, then those in which words begin so, then the others.
func Containing(text string, known []string) []string {
	text = strings.ToLower(text)
	words := split(text)
	if len(words) == 0 {
		return nil
	}
	var ranks [3][]string
	for _, k := range known {
		if rank, ok := contains(k, words); ok {
			ranks[rank] = append(ranks[rank], k)
		}
	}
	return slices.Concat(ranks[:]...)
}

// contains reports whether a name contains all words, and how well: 0 for whole words, 1 for the
// beginnings of words, 2 for other parts.
func contains(name string, words []string) (rank int, ok bool) {
	parts := split(strings.ToLower(name))
	for _, w := range words {
		singular := strings.TrimSuffix(w, "s")
		is := func(part string) bool { return strings.TrimSuffix(part, "s") == singular }
		begins := func(part string) bool { return strings.HasPrefix(part, w) }
		switch {
		case slices.ContainsFunc(parts, is):
		case len(w) < shortest:
			return 0, false
		case slices.ContainsFunc(parts, begins):
			rank = max(rank, 1)
		case strings.Contains(strings.ToLower(name), w):
			rank = 2
		default:
			return 0, false
		}
	}
	return rank, true
}

// split returns the words of a name.
func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
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
