package mosaic

import (
	"io/fs"
	"syscall"
)

// access says who may read something, in the terms of permission bits.
type access struct {
	uid, gid uint32
	perm     fs.FileMode // of 0o444
}

// everybody may read.
var everybody = access{perm: 0o444}

// accessOf returns who may read a file, or search a directory.
func accessOf(info fs.FileInfo) access {
	var a access
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		a.uid, a.gid = st.Uid, st.Gid
	}
	perm := info.Mode().Perm()
	if info.IsDir() {
		perm <<= 2 // to search is to read what is below
	}
	a.perm = perm & 0o444
	return monotone(a)
}

// monotone lets bits that forbid to the owner or the group what they allow to others
// forbid it to all: there is no other way to say so once owners are joined.
func monotone(a access) access {
	if a.perm&0o400 == 0 {
		a.perm &^= 0o040
	}
	if a.perm&0o040 == 0 {
		a.perm &^= 0o004
	}
	return a
}

// and returns who may read both: at most those, and not all of them where the owners
// or groups differ.
func (a access) and(b access) access {
	switch {
	case b.perm == everybody.perm:
		return a // whoever they belong to
	case a.perm == everybody.perm:
		return b
	}
	c := access{a.uid, a.gid, a.perm & b.perm}
	if a.uid != b.uid {
		c.uid = 0
	}
	if a.gid != b.gid {
		c.gid = 0
		c.perm = c.perm&^0o040 | c.perm&0o004<<3
	}
	return c
}

// covers reports whether a promises nobody more than a cube, or a directory, allows.
func (a access) covers(info fs.FileInfo) bool { return a.and(accessOf(info)) == a }
