// Package yamldoc reads the documents of a YAML file as JSON, and maps each byte of it back to
// the file. It knows no dialects.
package yamldoc
