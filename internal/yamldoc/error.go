package yamldoc

import "fmt"

// maxDocument is how long one document of a file may be.
const maxDocument = 64 << 20

// An Error says why a file cannot be read. Line and Column count from 1, and the column counts
// characters; 0 is not known.
type Error struct {
	Line, Column int
	Reason       string
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return "invalid YAML: " + e.Reason
	case e.Column == 0:
		return fmt.Sprintf("invalid YAML: line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("invalid YAML: line %d, column %d: %s", e.Line, e.Column, e.Reason)
}
