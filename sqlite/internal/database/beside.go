package database

import (
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/toolguard/toolguard/internal/write"
)

// besides is the file system of a database that is written. The files that SQLite makes beside it get its owner
// and its mode, from the start: nobody may read rows in them who may not read the database, and who owns it can
// open it after a killed run of another user.
type besides struct{ vfs.VFSFilename }

// besidesName is the name of besides in the URI of a database.
const besidesName = "toolguard"

// register makes besides known to SQLite.
func register() {
	if os, is := vfs.Find("os").(vfs.VFSFilename); is {
		vfs.Register(besidesName, besides{os})
	}
}

// OpenFilename implements vfs.VFSFilename.
func (b besides) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if name != nil && flags&vfs.OPEN_CREATE != 0 && flags&(vfs.OPEN_MAIN_JOURNAL|vfs.OPEN_WAL) != 0 {
		if info, err := os.Stat(name.Database()); err == nil {
			create(name.String(), info)
		}
	}
	return b.VFSFilename.OpenFilename(name, flags)
}

// create creates an empty file like another one, unless there is one. SQLite says what fails.
func create(path string, like fs.FileInfo) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	if uid, gid, known := write.Owner(like); known {
		_ = f.Chown(uid, gid) // only root may
	}
	_ = f.Chmod(like.Mode().Perm())
	_ = f.Close()
}
