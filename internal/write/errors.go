package write

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A refusal is a reason not to write a file that is not a failure of the system.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "not written: " + r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// unsynced is the error of a file that was written but could not be synced.
type unsynced struct{ err error }

func (u *unsynced) Error() string {
	return "repaired, but the repair may be lost in a power failure: " + reason(u.err).Error()
}

// stranded is the error of a file that changed while it was replaced and could not be
// restored.
type stranded struct {
	old string
	err error
}

func (s *stranded) Error() string {
	return fmt.Sprintf("repaired, but it changed in the meantime and could not be restored; %s has its text before the repair: %v", s.old, reason(s.err))
}

// writeError puts the path first and omits the system call and the name of the temporary
// file.
func writeError(path string, err error) error {
	if errors.As(err, new(*unsynced)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if errors.As(err, new(*stranded)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if errors.As(err, new(*refusal)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%s: not written: %w", path, reason(err))
}

// unlinkable reports whether an error of Link says that the file can have no second name, and
// not that something failed: the file system has no hard links, the system does not permit
// one, or the file has too many.
func unlinkable(err error) bool {
	const invalidFunction, tooManyLinks = syscall.Errno(1), syscall.Errno(1142) // of Windows
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK) ||
		isWindows && (errors.Is(err, invalidFunction) || errors.Is(err, tooManyLinks))
}

// reason returns the cause of a system error. The most common causes have the same text on
// all systems.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) {
		err = path.Err
	} else if errors.As(err, &link) {
		err = link.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file or directory")
	}
	return err
}
