package write

// An attribute is an extended attribute of a file that programs or people set, such as
// user.comment. Attributes of the system are not included.
type attribute struct {
	name  string
	value []byte
}

// keepAttributes copies the extended attributes of the replaced file to the new one. If the
// file system rejects one, the file is not written, unless the user insists.
func (w *writer) keepAttributes(f file) error {
	for _, a := range w.attrs {
		err := f.SetAttribute(a)
		switch {
		case err == nil:
		case !w.opts.Force:
			return refuse("its extended attribute %s cannot be kept: %v (--force drops the attribute)", a.name, reason(err))
		default:
			w.note("its extended attribute %s could not be kept", a.name)
		}
	}
	return nil
}
