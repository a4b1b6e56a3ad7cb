//go:build wasip1 && planted

package main

import (
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/rules"
)

// plant adds a rule that panics, and one that ends the program at calls with these ids: fatal-stack
// and fatal-memory.
func plant(o *engine.FixOptions) { o.Rules = append(o.Rules, planted.Rule(), fatal()) }

func fatal() *rules.Rule {
	return &rules.Rule{Name: "planted-fatal", Category: rules.Pairing, Severity: "error", Check: func(c *rules.Context) {
		for i := range c.Calls {
			switch id := c.Calls[i].ID.Raw; {
			case strings.Contains(id, "fatal-stack"):
				deep(nil)
			case strings.Contains(id, "fatal-memory"):
				for kept := [][]byte(nil); ; {
					kept = append(kept, make([]byte, 256<<20))
				}
			}
		}
	}}
}

// deep never returns.
func deep(above *[64]int) int {
	var here [64]int
	here[0] = deep(&here)
	return here[0] + above[0]
}
