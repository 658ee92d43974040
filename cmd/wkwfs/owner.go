package main

import (
	"io/fs"
	"math"
	"strconv"
)

// ownerID is the number of a user or a group, or nothing.
type ownerID struct{ id *uint32 }

func (o *ownerID) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == math.MaxUint32 { // which means "none" to the kernel
		return usageError("id -u NAME, and id -g NAME, tell it", "%q is not the number of a user or group", text)
	}
	id := uint32(n)
	o.id = &id
	return nil
}

func (o *ownerID) String() string {
	if o.id == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*o.id), 10)
}

func (o *ownerID) Type() string { return "ID" }

// permissionMask is what nobody may do, as for umask(2), or nothing.
type permissionMask struct{ mask *fs.FileMode }

func (m *permissionMask) Set(text string) error {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > uint64(fs.ModePerm) {
		return usageError("write it like 022 or 077", "%q is not a mask of permissions", text)
	}
	mask := fs.FileMode(n)
	m.mask = &mask
	return nil
}

func (m *permissionMask) String() string {
	if m.mask == nil {
		return ""
	}
	return "0" + strconv.FormatUint(uint64(*m.mask), 8)
}

func (m *permissionMask) Type() string { return "MASK" }
