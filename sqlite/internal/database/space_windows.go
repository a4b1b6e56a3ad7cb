package database

import "golang.org/x/sys/windows"

// free returns how many bytes can be written to the file system of a directory.
func free(dir string) (n uint64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	err = windows.GetDiskFreeSpaceEx(path, &n, nil, nil)
	return n, err == nil
}
