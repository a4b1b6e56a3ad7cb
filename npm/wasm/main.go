//go:build wasip1

// Command wasm is the engine of the npm package @toolguard/core. It has one export, call, and
// knows neither files nor networks: the host passes a request and gets the answer.
package main

import (
	"context"
	"encoding/json"
	"unsafe"

	"github.com/toolguard/toolguard/internal/contain"
)

// version is set by the build.
var version = "dev"

func main() {}

// take copies the request to p. It is called once in each call.
//
//go:wasmimport toolguard take
func take(p unsafe.Pointer)

// give passes size bytes at p to the host, which copies them: first the answer as JSON, and then,
// if the text changed, the text.
//
//go:wasmimport toolguard give
func give(p unsafe.Pointer, size uint32)

// count asks the host for the number of tokens of a text. It is not a number if the host has none.
//
//go:wasmimport toolguard count
func count(p unsafe.Pointer, size uint32) float64

// call answers a request: options as JSON of size options, and an input.
//
//go:wasmexport call
func call(options, input uint32) {
	request := make([]byte, options+input)
	take(unsafe.Pointer(unsafe.SliceData(request)))
	meta, text := answer(request[:options], request[options:])
	give(unsafe.Pointer(unsafe.SliceData(meta)), uint32(len(meta)))
	if text != nil {
		give(unsafe.Pointer(unsafe.SliceData(text)), uint32(len(text)))
	}
}

// An answered is the answer to a request.
type answered struct {
	Error   *failure        `json:"error,omitempty"`
	Before  json.RawMessage `json:"before,omitempty"`
	After   json.RawMessage `json:"after,omitempty"`
	Trimmed json.RawMessage `json:"trimmed,omitempty"`
	// Origin has for each element of the new list its index in the old one, or -1 if it is new or
	// was changed.
	Origin []int `json:"origin,omitempty"`
	Value  any   `json:"value,omitempty"`

	text []byte // nil if the input did not change
}

// answer returns the answer as JSON, and the new text if there is one.
func answer(options, input []byte) (meta, text []byte) {
	var a answered
	err := contain.Do(func() error {
		plant(input)
		r, err := parse(options)
		if err != nil {
			return err
		}
		return operations[r.Operation](context.Background(), r, input, &a)
	})
	if err != nil {
		a = answered{Error: failed(err), Trimmed: a.Trimmed}
	}
	meta, err = json.Marshal(&a)
	if err != nil {
		panic(err) // all of its parts are JSON
	}
	return meta, a.text
}
