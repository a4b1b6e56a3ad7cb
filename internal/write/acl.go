package write

import (
	"encoding/binary"
	"errors"
	"io/fs"
)

// The kinds of entries in an access control list, as Linux keeps them in the
// attribute system.posix_acl_access.
const (
	aclVersion    = 2
	aclUserObj    = 0x01 // the owner
	aclUser       = 0x02
	aclGroupObj   = 0x04 // the owning group
	aclGroup      = 0x08
	aclMask       = 0x10 // the most that all but the owner and the others have
	aclOther      = 0x20
	aclHead       = 4
	aclEntryBytes = 8
)

// An accessList is an access control list.
type accessList []accessEntry

// An accessEntry is what one user, or one group, may do.
type accessEntry struct {
	tag, perm uint16
	id        uint32
}

// parseACL reads an access control list.
func parseACL(raw []byte) (accessList, error) {
	if len(raw) < aclHead || (len(raw)-aclHead)%aclEntryBytes != 0 || binary.LittleEndian.Uint32(raw) != aclVersion {
		return nil, errors.New("its access control list is of an unknown kind")
	}
	var list accessList
	for raw = raw[aclHead:]; len(raw) > 0; raw = raw[aclEntryBytes:] {
		list = append(list, accessEntry{
			binary.LittleEndian.Uint16(raw), binary.LittleEndian.Uint16(raw[2:]), binary.LittleEndian.Uint32(raw[4:]),
		})
	}
	return list, nil
}

// bytes writes an access control list.
func (l accessList) bytes() []byte {
	raw := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range l {
		raw = binary.LittleEndian.AppendUint16(raw, e.tag)
		raw = binary.LittleEndian.AppendUint16(raw, e.perm)
		raw = binary.LittleEndian.AppendUint32(raw, e.id)
	}
	return raw
}

// perm returns what the only entry of a kind allows, all if there is none.
func (l accessList) perm(tag uint16) uint16 {
	for _, e := range l {
		if e.tag == tag {
			return e.perm
		}
	}
	return 0o7
}

// narrowGroup leaves the owning group no more than what the others have.
func (l accessList) narrowGroup() {
	for i := range l {
		if l[i].tag == aclGroupObj {
			l[i].perm &= l.perm(aclOther)
		}
	}
}

// mode returns the mode of a file that had this list and has none any more. Its
// group bits are those of the owning group: in a mode beside a list they are the
// mask, which is as wide as the widest entry. Who was named in the list counts
// as one of the group or of the others then, and must not gain by it.
func (l accessList) mode() fs.FileMode {
	mask := l.perm(aclMask)
	group, other := l.perm(aclGroupObj)&mask, l.perm(aclOther)
	for _, e := range l {
		switch e.tag {
		case aclUser:
			group &= e.perm & mask
			other &= e.perm & mask
		case aclGroup:
			other &= e.perm & mask
		}
	}
	return fs.FileMode(l.perm(aclUserObj)&7)<<6 | fs.FileMode(group&7)<<3 | fs.FileMode(other&7)
}

// dress gives a new file the owner, the access control list and the mode of the
// file that it replaces, and never lets more people in than that did.
func dress(f file, was fs.FileInfo, acl []byte) error {
	// The owner first: a change of owner takes bits off the mode. Only root can
	// give files away, and only a member can give one to a group. Where that
	// fails the file belongs to who repaired it, and a group that could not read
	// it before cannot now.
	uid, gid, ok := owner(was)
	strangers := ok && f.Chown(uid, gid) != nil && f.Chown(-1, gid) != nil
	mode := was.Mode().Perm()
	if acl != nil {
		list, err := parseACL(acl)
		if err != nil {
			return refuse("%v", err)
		}
		if strangers {
			list.narrowGroup()
		}
		if f.SetACL(list.bytes()) == nil {
			return nil // the mode is part of it
		}
		mode = list.mode()
	}
	if strangers {
		mode &^= 0o070 &^ (mode & 0o007 << 3)
	}
	// A directory can give its files a list that the original did not have. It
	// has no effect as long as the mode, which bounds it, gives the group nothing.
	if f.SetACL(nil) != nil {
		mode &^= 0o070
	}
	return f.Chmod(mode)
}
