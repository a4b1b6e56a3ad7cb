//go:build !noterm

package report

import "github.com/mattn/go-runewidth"

// libraryWidth returns how many columns a grapheme cluster takes, as the library has it.
func libraryWidth(s string) int {
	// The default condition depends on the locale; a report must not.
	cond := runewidth.Condition{StrictEmojiNeutral: true}
	return cond.StringWidth(s)
}

// truncate returns the part of a name that fits into most columns.
func truncate(name string, most int) string { return runewidth.Truncate(name, most, ellipsis) }
