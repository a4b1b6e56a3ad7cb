//go:build wasip1 && !playground

package main

import "context"

// look is part of the engine of the playground alone.
var look func(ctx context.Context, r *request, input []byte, a *answered) error
