// Package access joins permissions: which users may read a file that is made of several files, or that is reached
// through several directories. A result can be shown as owner, group and permission bits of one file. So it may allow
// fewer users than all parts allow, never more.
package access

import (
	"io/fs"
	"syscall"
)

// Access describes the users who may read a file, or search a directory, by owner, group and permission bits.
type Access struct {
	UID, GID uint32
	Perm     fs.FileMode // read bits, of 0o444
}

// Unrestricted lets every user read.
var Unrestricted = Access{Perm: 0o444}

// Of returns the access of users who may read a file or search a directory.
func Of(info fs.FileInfo) Access {
	perm := info.Mode().Perm()
	if info.IsDir() {
		perm <<= 2 // search permission counts as read permission for the files below
	}
	a := Access{Perm: perm & 0o444}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		a.UID, a.GID = st.Uid, st.Gid
	}
	return monotone(a)
}

// monotone removes permissions of others that the group lacks, and of the group that the owner lacks. Bits cannot
// express such exceptions once owners are joined.
func monotone(a Access) Access {
	if a.Perm&0o400 == 0 {
		a.Perm &^= 0o040
	}
	if a.Perm&0o040 == 0 {
		a.Perm &^= 0o004
	}
	return a
}

// And returns an access that allows only users whom both a and b allow. If the owners or groups differ, it allows
// fewer users.
func (a Access) And(b Access) Access {
	switch {
	case b.Perm == Unrestricted.Perm:
		return a
	case a.Perm == Unrestricted.Perm:
		return b
	}
	c := Access{a.UID, a.GID, a.Perm & b.Perm}
	if a.UID != b.UID {
		c.UID = 0
	}
	if a.GID != b.GID {
		c.GID = 0
		c.Perm = c.Perm&^0o040 | c.Perm&0o004<<3
	}
	return c
}

// Within reports whether a file or directory allows every user whom a allows.
func (a Access) Within(info fs.FileInfo) bool { return a.And(Of(info)) == a }

// Restrict returns info with owner, group and permissions that allow only users whom a also allows, and no writes.
func (a Access) Restrict(info fs.FileInfo) fs.FileInfo {
	if a.Perm == Unrestricted.Perm {
		return info
	}
	both := Of(info).And(a)
	r := &restricted{FileInfo: info, mode: info.Mode()&^fs.ModePerm | both.Perm}
	if info.IsDir() {
		r.mode = info.Mode()&^fs.ModePerm | both.Perm>>2 | both.Perm&listable(info, both)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		r.sys = *st
	}
	r.sys.Uid, r.sys.Gid = both.UID, both.GID
	r.sys.Mode = withPerm(r.sys.Mode, r.mode)
	return r
}

// withPerm returns mode, as a Stat_t has it, with the permissions of perm. Its type differs between systems.
func withPerm[T uint16 | uint32](mode T, perm fs.FileMode) T { return mode&^0o777 | T(perm.Perm()) }

// listable returns the read bits that a directory keeps if its owner and group become those of both.
func listable(info fs.FileInfo, both Access) fs.FileMode {
	switch perm := info.Mode().Perm(); {
	case perm&0o444 == 0o444:
		return 0o444
	case both.UID == Of(info).UID:
		return perm & 0o400
	}
	return 0
}

// restricted is a file that fewer users may read than its own permissions allow.
type restricted struct {
	fs.FileInfo
	mode fs.FileMode
	sys  syscall.Stat_t
}

func (r *restricted) Mode() fs.FileMode { return r.mode }
func (r *restricted) Sys() any          { return &r.sys }
