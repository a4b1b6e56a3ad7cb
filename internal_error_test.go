package toolguard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/source"
)

// withPlanted adds the dialect that panics.
func withPlanted() Option {
	return optionFunc(func(o *options) error {
		o.Dialects = dialect.Builtin().With(planted.Dialect())
		return nil
	})
}

// TestInternalError: each function returns a panic in any stage as an error and nothing else, and
// works as before the next time.
func TestInternalError(t *testing.T) {
	t.Parallel()
	// Both say whether they return anything besides text and an error.
	type calls struct {
		bytes func([]byte) (some bool, out []byte, err error)
		read  func(io.Writer, io.Reader) (some bool, err error)
	}
	ctx := context.Background()
	check := func(opts ...Option) calls {
		return calls{
			bytes: func(b []byte) (bool, []byte, error) {
				rep, err := CheckBytes(ctx, b, opts...)
				return rep != nil, nil, err
			},
			read: func(_ io.Writer, r io.Reader) (bool, error) {
				rep, err := Check(ctx, r, opts...)
				return rep != nil, err
			},
		}
	}
	fix := func(opts ...Option) calls {
		return calls{
			bytes: func(b []byte) (bool, []byte, error) {
				out, f, err := FixBytes(ctx, b, opts...)
				return f != nil, out, err
			},
			read: func(w io.Writer, r io.Reader) (bool, error) { x, err := Fix(ctx, w, r, opts...); return x != nil, err },
		}
	}
	trim := func(opts ...Option) calls {
		to := TrimTo{KeepLast: 1}
		return calls{
			bytes: func(b []byte) (bool, []byte, error) {
				out, x, err := TrimBytes(ctx, b, to, opts...)
				return x != nil, out, err
			},
			read: func(w io.Writer, r io.Reader) (bool, error) {
				x, err := Trim(ctx, w, r, to, opts...)
				return x != nil, err
			},
		}
	}
	redact := func(opts ...Option) calls {
		return calls{
			bytes: func(b []byte) (bool, []byte, error) {
				out, x, err := RedactBytes(ctx, b, opts...)
				return x != nil, out, err
			},
			read: func(w io.Writer, r io.Reader) (bool, error) {
				x, err := Redact(ctx, w, r, opts...)
				return x != nil, err
			},
		}
	}
	for _, tt := range []struct {
		name, id string
		calls    calls
	}{
		{"check", planted.InReader, check(withPlanted())},
		{"check, repair", planted.InRepair, check(withPlanted())},
		{"fix", planted.InReader, fix(withPlanted())},
		{"fix, repair", planted.InRepair, fix(withPlanted())},
		{"fix, proof", planted.InProof, fix(withPlanted())},
		{"trim", planted.InReader, trim(withPlanted())},
		{"redact", planted.InReader, redact(withPlanted())},
	} {
		for range 2 {
			for _, lines := range []bool{true, false} {
				text := []byte(planted.Lines(tt.id))
				if !lines {
					text = []byte("[" + strings.Join(planted.Session(tt.id), ",") + "]")
				}
				was := bytes.Clone(text)
				some, out, err := tt.calls.bytes(text)
				wrong := func(err error) bool {
					var internal *InternalError
					return !errors.As(err, &internal) || internal.Panic != planted.Value || !bytes.Contains(internal.Stack, []byte("internal/planted.")) ||
						err.Error() != "internal error in toolguard; please report it at https://github.com/toolguard/toolguard/issues"
				}
				if wrong(err) || some || out != nil || !bytes.Equal(text, was) {
					t.Errorf("%s of bytes: %v, %q", tt.name, err, out)
				}
				var w bytes.Buffer
				if some, err = tt.calls.read(&w, bytes.NewReader(text)); wrong(err) || some || w.Len() > 0 {
					t.Errorf("%s of a reader: %v, written %q", tt.name, err, &w)
				}
			}
		}
	}
}

// TestPanicOfCaller: a panic of a reader or a writer of the caller is not one of the package.
func TestPanicOfCaller(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(r io.Reader, w io.Writer) error{
		"check": func(r io.Reader, _ io.Writer) error { _, err := Check(t.Context(), r); return err },
		"fix":   func(r io.Reader, w io.Writer) error { _, err := Fix(t.Context(), w, r); return err },
		"trim": func(r io.Reader, w io.Writer) error {
			_, err := Trim(t.Context(), w, r, TrimTo{KeepLast: 1})
			return err
		},
		"redact": func(r io.Reader, w io.Writer) error { _, err := Redact(t.Context(), w, r); return err },
	} {
		const text = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`
		for of, call := range map[string]func() error{
			"reader": func() error { return f(callers{}, io.Discard) },
			"writer": func() error { return f(strings.NewReader(text), callers{}) },
		} {
			value := func() (value any) {
				defer func() { value = recover() }()
				return call()
			}()
			if want := name != "check" || of == "reader"; (value == "the caller's") != want || !want && value != nil {
				t.Errorf("%s, a panic of the %s: %v", name, of, value)
			}
		}
	}
}

// callers is a reader and a writer that panics.
type callers struct{}

func (callers) Read([]byte) (int, error)  { panic("the caller's") }
func (callers) Write([]byte) (int, error) { panic("the caller's") }

// TestPanicWhileWritten: a panic of a source that is copied to the caller's writer is an error.
func TestPanicWhileWritten(t *testing.T) {
	t.Parallel()
	src := source.NewSource("s", panicky{}, 100)
	var internal *InternalError
	if _, err := io.Copy(io.Discard, stream{src.Stream()}); !errors.As(err, &internal) || internal.Panic != planted.Value {
		t.Errorf("got %v", err)
	}
}

// panicky panics when it is read.
type panicky struct{}

func (panicky) ReadAt([]byte, int64) (int, error) { panic(planted.Value) }
