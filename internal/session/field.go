package session

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// These are where records and messages have the time and the model, unless their dialect says so.
const (
	commonTime dialect.Lens = "timestamp|created_at|createdAt|create_time|time|ts|date|metadata.timestamp|time.created|info.time.created"
	modelPaths dialect.Lens = "message.model|model|payload.model|data.model|response_metadata.model_name|modelID|info.modelID|modelVersion|extra.model|metadata.model"
)

// TimeField returns where the records of a dialect have their time.
func TimeField(d *dialect.Dialect) Field { return NewField(timePaths(d)) }

// ModelField returns where records and messages have the model that wrote them.
func ModelField() Field { return NewField(modelPaths) }

// timePaths returns where the records of a dialect have their time.
func timePaths(d *dialect.Dialect) dialect.Lens {
	if d.Log != nil && d.Log.Time != "" {
		return dialect.Lens(d.Log.Time) + "|" + commonTime
	}
	return commonTime
}

// A Field is a value that records of a transcript have at one of several paths. All have it at the
// same one, which is found by trying.
type Field struct {
	paths  []dialect.Lens
	at     dialect.Lens // the path that is used, once known
	missed int
}

// mostMissed is after how many values without the field it is not looked for any more.
const mostMissed = 64

// NewField returns a field at one of several paths.
func NewField(paths dialect.Lens) Field {
	var f Field
	for alt := range paths.Alternatives() {
		f.paths = append(f.paths, alt)
	}
	return f
}

// Absent reports whether the transcript seems not to have the field.
func (f *Field) Absent() bool { return f.at == "" && f.missed >= mostMissed }

// Unseen reports whether no value so far has the field.
func (f *Field) Unseen() bool { return f.at == "" }

// In returns the field of a value. It does not exist if there is none.
func (f *Field) In(v source.Value) source.Value {
	if f.at != "" {
		return f.at.In(v)
	}
	if f.Absent() {
		return source.Value{}
	}
	for _, path := range f.paths {
		if got := path.In(v); got.Exists() && (got.Kind() == source.String || got.Kind() == source.Number) {
			f.at = path
			return got
		}
	}
	f.missed++
	return source.Value{}
}

// layouts are how times are written, besides as numbers.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", time.RFC1123, time.RFC1123Z}

// Time returns a time in milliseconds since 1970, as a text or a number of seconds, milliseconds,
// microseconds or nanoseconds gives it; 0 if it is none, or not of the years 2001 to 2100.
func Time(v source.Value) int64 {
	switch v.Kind() {
	case source.Number:
		return numeric(string(v.Raw()))
	case source.String:
		text := v.Str()
		if len(text) > 40 {
			return 0
		}
		if strings.Trim(text, "0123456789.") == "" {
			return numeric(text)
		}
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil {
				return within(float64(t.UnixMilli()))
			}
		}
	}
	return 0
}

// numeric returns the time that a number gives.
func numeric(text string) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	for _, unit := range []float64{1000, 1, 1e-3, 1e-6} {
		if ms := within(n * unit); ms != 0 {
			return ms
		}
	}
	return 0
}

// within returns a time if it is of the years in which there can be transcripts.
func within(ms float64) int64 {
	const from, to = 978_307_200_000, 4_133_980_800_000
	if ms < from || ms >= to {
		return 0
	}
	return int64(math.Round(ms))
}
