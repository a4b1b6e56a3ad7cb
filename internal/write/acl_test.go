package write

import (
	"encoding/binary"
	"io/fs"
	"testing"
)

// list encodes an access control list as the system does: tag, permissions and id of each
// entry.
func list(entries ...[3]uint32) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range entries {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(e[0]))
		raw = binary.LittleEndian.AppendUint16(raw, uint16(e[1]))
		raw = binary.LittleEndian.AppendUint32(raw, e[2])
	}
	return raw
}

// nobodyID is the id of entries that are not for a single user or group.
const nobodyID = 0xffffffff

func TestModeOfACL(t *testing.T) {
	t.Parallel()
	owner, other := [3]uint32{aclUserObj, 6, nobodyID}, [3]uint32{aclOther, 4, nobodyID}
	for _, tt := range []struct {
		name string
		acl  []byte
		want fs.FileMode
	}{
		{"the mask is not the group's", list(owner, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 0, nobodyID}, [3]uint32{aclMask, 6, nobodyID}, [3]uint32{aclOther, 0, nobodyID}), 0o600},
		{"the mask bounds the group", list(owner, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 6, nobodyID}, [3]uint32{aclMask, 4, nobodyID}, other), 0o644},
		{"who had less than the group keeps it at that", list(owner, [3]uint32{aclUser, 4, 1000}, [3]uint32{aclGroupObj, 6, nobodyID}, [3]uint32{aclMask, 6, nobodyID}, other), 0o644},
		{"who had nothing gets nothing", list(owner, [3]uint32{aclUser, 0, 1000}, [3]uint32{aclGroupObj, 4, nobodyID}, [3]uint32{aclMask, 4, nobodyID}, other), 0o600},
		{"a named group without rights", list(owner, [3]uint32{aclGroupObj, 4, nobodyID}, [3]uint32{aclGroup, 0, 50}, [3]uint32{aclMask, 4, nobodyID}, other), 0o640},
		{"no mask", list(owner, [3]uint32{aclGroupObj, 4, nobodyID}, other), 0o644},
	} {
		l, err := parseACL(tt.acl)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.mode(); got != tt.want {
			t.Errorf("%s: %o, want %o", tt.name, got, tt.want)
		}
		if got := string(l.bytes()); got != string(tt.acl) {
			t.Errorf("%s: written as %x, read from %x", tt.name, got, tt.acl)
		}
	}
	for _, raw := range [][]byte{{}, {2, 0, 0}, {3, 0, 0, 0}, {2, 0, 0, 0, 1}} {
		if _, err := parseACL(raw); err == nil {
			t.Errorf("%v is a list", raw)
		}
	}
}
