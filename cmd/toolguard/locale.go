package main

import (
	"runtime"
	"strings"
)

// ascii reports whether the terminal may show nothing but ASCII: the locale says so. Windows has none.
func (a *app) ascii() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(a.env(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}
