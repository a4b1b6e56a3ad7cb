//go:build wasip1 && planted

package main

import "bytes"

// plant panics, or ends the program, at inputs with these texts.
func plant(input []byte) {
	switch {
	case bytes.Contains(input, []byte("planted-panic")):
		panic("planted")
	case bytes.Contains(input, []byte("planted-stack")):
		deep(nil)
	case bytes.Contains(input, []byte("planted-memory")):
		for kept := [][]byte(nil); ; {
			kept = append(kept, make([]byte, 256<<20))
		}
	}
}

// deep never returns.
func deep(above *[64]int) int {
	var here [64]int
	here[0] = deep(&here)
	return here[0] + above[0]
}
