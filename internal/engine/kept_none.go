//go:build nokept

package engine

// provesKept says that each repair is proved by a second check. Then the program is smaller.
const provesKept = false
