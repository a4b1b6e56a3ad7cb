package ignore

import "strings"

// match reports whether a glob matches a whole text. A single asterisk does not
// match a slash. Only the last asterisk of either kind is ever tried again, so
// that no glob takes more than polynomial time.
func match(glob, text string) bool {
	g, t := 0, 0
	star, starText := -1, 0 // where the glob continues after *, and the text next time
	deep, deepText := -1, 0 // the same after **
	for {
		switch {
		case g == len(glob):
			if t == len(text) {
				return true
			}
		case glob[g] == '*':
			rest := strings.TrimLeft(glob[g:], "*")
			end := len(glob) - len(rest)
			switch {
			case end-g < 2 || g > 0 && glob[g-1] != '/' || rest != "" && rest[0] != '/' && !strings.HasPrefix(rest, `\/`):
				star, starText = end, t+1
				g = end
			case rest == "":
				return true
			case rest[0] == '/': // no directory, or any number of them
				star, deep, deepText = -1, end, t
				g = end + 1
			default:
				star, deep, deepText = -1, end, t+1
				g = end
			}
			continue
		case t < len(text):
			width, ok := one(glob[g:], text[t])
			if width == 0 {
				return false
			}
			if ok {
				g, t = g+width, t+1
				continue
			}
		}
		switch {
		case star >= 0 && starText <= len(text) && text[starText-1] != '/':
			g, t = star, starText
			starText++
		case deep >= 0 && deepText <= len(text):
			g, t, star = deep, deepText, -1
			deepText++
		default:
			return false
		}
	}
}

// one reports whether the first element of a glob, which is no asterisk, matches
// a character, and returns the length of the element; 0 for one that never
// matches anything.
func one(glob string, c byte) (width int, ok bool) {
	switch glob[0] {
	case '?':
		return 1, c != '/'
	case '[':
		width, ok = set(glob, c)
		return width, ok && c != '/'
	case '\\':
		if len(glob) == 1 {
			return 0, false
		}
		return 2, glob[1] == c
	}
	return 1, glob[0] == c
}

// set reports whether a set of characters in brackets has a character, and
// returns its length, 0 if it is malformed.
func set(glob string, c byte) (width int, ok bool) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	var before byte // what a range may begin with
	for first := true; ; first = false {
		if i >= len(glob) {
			return 0, false
		}
		if glob[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if rest := glob[i:]; strings.HasPrefix(rest, "[:") {
			if end := strings.IndexByte(rest[2:], ']') + 2; end < 2 {
				return 0, false
			} else if end > 2 && rest[end-1] == ':' {
				has, known := class(rest[2:end-1], c)
				if !known {
					return 0, false
				}
				ok = ok || has
				before = 0
				i += end + 1
				continue
			}
		}
		isRange := glob[i] == '-' && before != 0 && i+1 < len(glob) && glob[i+1] != ']'
		if isRange {
			i++
		}
		if glob[i] == '\\' {
			if i++; i == len(glob) {
				return 0, false
			}
		}
		if isRange {
			ok = ok || before <= c && c <= glob[i]
			before = 0
		} else {
			ok = ok || c == glob[i]
			before = glob[i]
		}
		i++
	}
}

// class reports whether a named class of characters has a character, and whether
// there is such a class.
func class(name string, c byte) (has, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	space := strings.IndexByte(" \t\n\r", c) >= 0
	visible := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		has = lower || upper || digit
	case "alpha":
		has = lower || upper
	case "blank":
		has = c == ' ' || c == '\t'
	case "cntrl":
		has = c < ' ' || c == 0x7f
	case "digit":
		has = digit
	case "graph":
		has = visible
	case "lower":
		has = lower
	case "print":
		has = visible || c == ' '
	case "punct":
		has = visible && !lower && !upper && !digit
	case "space":
		has = space
	case "upper":
		has = upper
	case "xdigit":
		has = digit || 'a' <= c|0x20 && c|0x20 <= 'f'
	default:
		return false, false
	}
	return has, true
}
