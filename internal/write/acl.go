package write

import (
	"encoding/binary"
	"errors"
	"io/fs"
)

// The kinds of entries in an access control list, as Linux encodes them in the attribute
// system.posix_acl_access.
const (
	aclVersion    = 2
	aclUserObj    = 0x01 // the owner
	aclUser       = 0x02
	aclGroupObj   = 0x04 // the owning group
	aclGroup      = 0x08
	aclMask       = 0x10 // limits all entries except the owner's and the others'
	aclOther      = 0x20
	aclHead       = 4
	aclEntryBytes = 8
)

// An accessList is an access control list.
type accessList []accessEntry

// An accessEntry holds the permissions of one user or one group.
type accessEntry struct {
	tag, perm uint16
	id        uint32
}

// parseACL decodes an access control list.
func parseACL(raw []byte) (accessList, error) {
	if len(raw) < aclHead || (len(raw)-aclHead)%aclEntryBytes != 0 || binary.LittleEndian.Uint32(raw) != aclVersion {
		return nil, errors.New("unknown kind of access control list")
	}
	var list accessList
	for raw = raw[aclHead:]; len(raw) > 0; raw = raw[aclEntryBytes:] {
		list = append(list, accessEntry{
			binary.LittleEndian.Uint16(raw), binary.LittleEndian.Uint16(raw[2:]), binary.LittleEndian.Uint32(raw[4:]),
		})
	}
	return list, nil
}

// bytes encodes an access control list.
func (l accessList) bytes() []byte {
	raw := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range l {
		raw = binary.LittleEndian.AppendUint16(raw, e.tag)
		raw = binary.LittleEndian.AppendUint16(raw, e.perm)
		raw = binary.LittleEndian.AppendUint32(raw, e.id)
	}
	return raw
}

// perm returns the permissions of the only entry of a kind, all if there is none.
func (l accessList) perm(tag uint16) uint16 {
	for _, e := range l {
		if e.tag == tag {
			return e.perm
		}
	}
	return 0o7
}

// narrowGroup limits the owning group to the permissions of the others.
func (l accessList) narrowGroup() {
	for i := range l {
		if l[i].tag == aclGroupObj {
			l[i].perm &= l.perm(aclOther)
		}
	}
}

// mode returns the mode for a file that loses this list. The group bits of a mode beside a
// list are the mask, which is as wide as the widest entry, so the bits are computed from the
// entry of the owning group. Users and groups in the list then count as members of the group
// or as others, and must not gain permissions.
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

// dress gives a new file the owner, the access control list and the mode of the file that it
// replaces. It never gives anybody more access than before.
func dress(f file, was fs.FileInfo, acl []byte) error {
	// The owner comes first, because a change of owner clears bits of the mode. Only root can
	// give files away, and only a member can give one to a group. If that fails, the file
	// belongs to the user of toolguard, and a group that could not read it before still
	// cannot.
	uid, gid, ok := Owner(was)
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
			return nil // it includes the mode
		}
		mode = list.mode()
	}
	if strangers {
		mode &^= 0o070 &^ (mode & 0o007 << 3)
	}
	// A directory can give its files a list that the original did not have. The mode bounds
	// the list, so it has no effect if the mode gives the group nothing.
	if f.SetACL(nil) != nil {
		mode &^= 0o070
	}
	return f.Chmod(mode)
}
