//go:build !nokept

package container

// Recalls says that the reading of an edited file can take what its edits do not touch from an earlier reading.
const Recalls = true
