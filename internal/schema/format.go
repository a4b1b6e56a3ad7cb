package schema

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// A format is a required form of strings. It is enforced only by drafts before 2019-09.
type format struct {
	name   string
	allows func(string) bool
}

// formatNamed returns the format with the given name, or nil if it is unknown.
func formatNamed(name string) *format {
	var allows func(string) bool
	switch name {
	case "json-pointer":
		allows = isPointer
	case "relative-json-pointer":
		allows = isRelativePointer
	case "uuid":
		allows = isUUID
	case "duration":
		allows = isDuration
	case "period":
		allows = isPeriod
	case "ipv4":
		allows = isIPv4
	case "ipv6":
		allows = isIPv6
	case "hostname":
		allows = isHostname
	case "email":
		allows = isEmail
	case "date":
		allows = isDate
	case "time":
		allows = isTime
	case "date-time":
		allows = isDateTime
	case "uri", "iri":
		allows = isURI
	case "uri-reference", "iri-reference":
		allows = isReference
	case "uri-template":
		allows = isTemplate
	case "semver":
		allows = isVersion
	default:
		return nil
	}
	return &format{name, allows}
}

// only reports whether a text has only ASCII letters, ASCII digits and the characters in
// others.
func only(s, others string) bool {
	for _, r := range s {
		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(others, r)) {
			return false
		}
	}
	return true
}

// digits returns the number of digits at the start of a text.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// number2 returns the value of two digits, or -1.
func number2(s string) int {
	if len(s) != 2 || digits(s) != 2 {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}

func isPointer(s string) bool {
	if s == "" {
		return true
	}
	_, ok := unescapeKey(s)
	return ok && s[0] == '/'
}

func isRelativePointer(s string) bool {
	n := digits(s)
	return n > 0 && (n == 1 || s[0] != '0') && (s[n:] == "#" || isPointer(s[n:]))
}

func isUUID(s string) bool {
	groups := strings.Split(s, "-")
	if len(groups) != 5 {
		return false
	}
	for i, size := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != size || strings.Trim(groups[i], "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}

// isDuration reports whether s is an ISO 8601 duration of whole numbers.
func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "P")
	if !ok || s == "" {
		return false
	}
	if weeks, ok := strings.CutSuffix(s, "W"); ok {
		return weeks != "" && digits(weeks) == len(weeks)
	}
	date, clock, timed := strings.Cut(s, "T")
	return inUnits(date, "YMD") && inUnits(clock, "HMS") && (!timed || clock != "")
}

// inUnits reports whether a text is numbers with units in the order of units.
func inUnits(s, units string) bool {
	for s != "" {
		n := digits(s)
		if n == 0 || n == len(s) {
			return false
		}
		i := strings.IndexByte(units, s[n])
		if i < 0 {
			return false
		}
		s, units = s[n+1:], units[i+1:]
	}
	return true
}

func isPeriod(s string) bool {
	from, to, ok := strings.Cut(s, "/")
	switch {
	case !ok:
		return false
	case strings.HasPrefix(from, "P"):
		return isDuration(from) && isDateTime(to)
	case strings.HasPrefix(to, "P"):
		return isDateTime(from) && isDuration(to)
	}
	return isDateTime(from) && isDateTime(to)
}

func isIPv4(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is4()
}

func isIPv6(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is6() && addr.Zone() == ""
}

func isHostname(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !only(label, "-") {
			return false
		}
	}
	return true
}

func isEmail(s string) bool {
	i := strings.LastIndexByte(s, '@')
	if i < 0 || len(s) > 254 {
		return false
	}
	local, domain := s[:i], s[i+1:]
	if len(local) > 64 {
		return false
	}
	if len(local) > 1 && local[0] == '"' && local[len(local)-1] == '"' {
		if strings.ContainsAny(local[1:len(local)-1], `\"`) {
			return false
		}
	} else if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") ||
		!only(local, ".!#$%&'*+-/=?^_`{|}~") {
		return false
	}
	if strings.HasPrefix(domain, "[") && strings.HasSuffix(domain, "]") {
		domain = domain[1 : len(domain)-1]
		if v6, ok := strings.CutPrefix(domain, "IPv6:"); ok {
			return isIPv6(v6)
		}
		return isIPv4(domain)
	}
	return isHostname(domain)
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isDateTime(s string) bool {
	return len(s) > 10 && (s[10] == 'T' || s[10] == 't') && isDate(s[:10]) && isTime(s[11:])
}

// isTime reports whether s is a time of day with a zone. A leap second is allowed where
// UTC has them.
func isTime(s string) bool {
	if len(s) < 9 || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, minute, second := number2(s[:2]), number2(s[3:5]), number2(s[6:8])
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return false
	}
	s = s[8:]
	if s[0] == '.' {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	const day = 24 * 60
	utc := hour*60 + minute
	if s != "z" && s != "Z" {
		if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
			return false
		}
		h, m := number2(s[1:3]), number2(s[4:])
		if h < 0 || h > 23 || m < 0 || m > 59 {
			return false
		}
		ahead := h*60 + m
		if s[0] == '-' {
			ahead = -ahead
		}
		utc = (utc - ahead + day) % day
	}
	return second < 60 || utc == day-1
}

// parseURL parses an address. An IPv6 host must be in brackets.
func parseURL(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, false
	}
	host := u.Hostname()
	return u, !strings.Contains(host, ":") || strings.Contains(u.Host, "[") && strings.Contains(u.Host, "]") && isIPv6(host)
}

func isURI(s string) bool {
	u, ok := parseURL(s)
	return ok && u.IsAbs()
}

func isReference(s string) bool {
	_, ok := parseURL(s)
	return ok && !strings.Contains(s, `\`)
}

// isTemplate reports whether the braces in an address are balanced.
func isTemplate(s string) bool {
	u, ok := parseURL(s)
	if !ok {
		return false
	}
	for part := range strings.SplitSeq(u.RawPath, "/") {
		part, err := url.PathUnescape(part)
		if err != nil {
			return false
		}
		open := false
		for _, r := range part {
			if r == '{' && open || r == '}' && !open {
				return false
			}
			if r == '{' || r == '}' {
				open = !open
			}
		}
		if open {
			return false
		}
	}
	return true
}

// isVersion reports whether s is a version as defined by semver.org.
func isVersion(s string) bool {
	s, build, built := strings.Cut(s, "+")
	core, early, before := strings.Cut(s, "-")
	if built && !areIdentifiers(build, false) || before && !areIdentifiers(early, true) {
		return false
	}
	numbers := strings.Split(core, ".")
	for _, n := range numbers {
		if n == "" || digits(n) != len(n) || len(n) > 1 && n[0] == '0' {
			return false
		}
	}
	return len(numbers) == 3
}

// areIdentifiers reports whether a text is identifiers separated by dots. If strict,
// numeric identifiers must not start with a zero.
func areIdentifiers(s string, strict bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || !only(id, "-") || strict && len(id) > 1 && id[0] == '0' && digits(id) == len(id) {
			return false
		}
	}
	return true
}
