package write

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	aclAttribute = "system.posix_acl_access"
	// mostACL is the kernel's limit for an attribute.
	mostACL = 64 << 10
)

// getACL returns the access control list of a file, nil if it has none.
func getACL(f *os.File) ([]byte, error) {
	raw := make([]byte, mostACL)
	n := 0
	err := again(func() (err error) {
		n, err = unix.Fgetxattr(int(f.Fd()), aclAttribute, raw)
		return err
	})
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return raw[:n:n], nil
}

// setACL sets the access control list of a file; nil removes it.
func setACL(f *os.File, acl []byte) error {
	if acl != nil {
		return again(func() error { return unix.Fsetxattr(int(f.Fd()), aclAttribute, acl, 0) })
	}
	err := again(func() error { return unix.Fremovexattr(int(f.Fd()), aclAttribute) })
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}
