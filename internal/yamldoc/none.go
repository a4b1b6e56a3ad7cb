//go:build noyaml

package yamldoc

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A Reader reads nothing, because this build has no library for YAML.
type Reader struct{}

// NewReader returns a reader that reads nothing.
func NewReader(*source.Source) *Reader { return &Reader{} }

// Next returns an *Error.
func (*Reader) Next() (*unfold.Unfolded, error) {
	return nil, &Error{Reason: "this build of toolguard has no reader for it"}
}
