//go:build !nokept

package engine

// provesKept says that repairs of large datasets are proved by what their edits touch.
const provesKept = true
