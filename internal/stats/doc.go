// Package stats counts what a check sees: how often calls have no result, by agent, version, tool,
// model, month and project, how long results are and how long they take, and which rows of datasets
// are rejected for which cause. Counts of files can be added in any order. The package knows neither
// flags nor how any of this is shown.
package stats
