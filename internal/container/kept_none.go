//go:build nokept

package container

// Recalls says that an edited file is read whole. Then the program is smaller.
const Recalls = false
