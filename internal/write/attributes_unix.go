//go:build linux || darwin

package write

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// getAttributes returns the extended attributes of a file.
func getAttributes(f *os.File) ([]attribute, error) {
	names, err := readAttribute(func(into []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), into) })
	if err != nil {
		return nil, err
	}
	var list []attribute
	for name := range bytes.SplitSeq(names, []byte{0}) {
		name := string(name)
		if name == "" || !anybodys(name) {
			continue
		}
		value, err := readAttribute(func(into []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, into) })
		if err != nil {
			return nil, err
		}
		list = append(list, attribute{name, value})
	}
	return list, nil
}

// anybodys reports whether programs and people set an attribute. Other attributes belong to
// the kernel, which gives a new file its own.
func anybodys(name string) bool {
	if runtime.GOOS == "linux" {
		return strings.HasPrefix(name, "user.")
	}
	return name != "com.apple.provenance" && !strings.HasPrefix(name, "com.apple.system.")
}

// readAttribute calls read with a large enough buffer. The required length can grow between
// two calls.
func readAttribute(read func(into []byte) (int, error)) ([]byte, error) {
	var into []byte
	for {
		n := 0
		err := again(func() (err error) {
			n, err = read(into)
			return err
		})
		switch {
		case errors.Is(err, unix.ERANGE), err == nil && n > len(into):
			into = make([]byte, max(n, 2*len(into)))
		case err == nil:
			return into[:n], nil
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
			return nil, nil
		default:
			return nil, err
		}
	}
}

// setAttribute gives a file an extended attribute.
func setAttribute(f *os.File, a attribute) error {
	return again(func() error { return unix.Fsetxattr(int(f.Fd()), a.name, a.value, 0) })
}
