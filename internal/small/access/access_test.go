package access

import (
	"io/fs"
	"syscall"
	"testing"
)

// mayRead checks permission bits as the kernel does with default_permissions.
func mayRead(a Access, uid uint32, gids map[uint32]bool) bool {
	switch {
	case uid == 0:
		return true
	case uid == a.UID:
		return a.Perm&0o400 != 0
	case gids[a.GID]:
		return a.Perm&0o040 != 0
	}
	return a.Perm&0o004 != 0
}

type fileInfo struct {
	fs.FileInfo
	mode fs.FileMode
	sys  syscall.Stat_t
}

func (i fileInfo) Mode() fs.FileMode { return i.mode }
func (i fileInfo) IsDir() bool       { return i.mode.IsDir() }
func (i fileInfo) Sys() any          { return &i.sys }

// TestRestrictPromisesNoMore restricts files and directories. A user may do only what both allow: read a file, search
// and list a directory.
func TestRestrictPromisesNoMore(t *testing.T) {
	groups := []map[uint32]bool{{}, {1: true}, {2: true}, {1: true, 2: true}}
	allowed := func(info fs.FileInfo, uid uint32, gids map[uint32]bool, shift int) bool {
		st := info.Sys().(*syscall.Stat_t)
		return mayRead(Access{st.Uid, st.Gid, info.Mode().Perm() << shift & 0o444}, uid, gids)
	}
	for perm := range fs.FileMode(0o1000) {
		for _, kind := range []fs.FileMode{0, fs.ModeDir} {
			info := fileInfo{mode: perm | kind, sys: syscall.Stat_t{Uid: 1, Gid: 1}}
			info.sys.Mode = withPerm(info.sys.Mode, perm)
			for _, a := range []Access{Unrestricted, {1, 1, 0o440}, {1, 1, 0o400}, {2, 1, 0o440}, {1, 2, 0o440},
				{2, 2, 0o400}, {2, 2, 0o440}, {0, 0, 0}} {
				got := a.Restrict(info)
				for uid := uint32(1); uid < 4; uid++ {
					for _, gids := range groups {
						reach := mayRead(a, uid, gids)
						if allowed(got, uid, gids, 0) && !(reach && allowed(info, uid, gids, 0)) {
							t.Fatalf("%v restricted by %v is %v: user %d of groups %v may read it", info.mode, a,
								got.Mode(), uid, gids)
						}
						if kind.IsDir() && allowed(got, uid, gids, 2) && !(reach && allowed(info, uid, gids, 2)) {
							t.Fatalf("%v restricted by %v is %v: user %d of groups %v may search it", info.mode, a,
								got.Mode(), uid, gids)
						}
					}
				}
				if got.Mode().Type() != kind {
					t.Fatalf("%v became %v", info.mode, got.Mode())
				}
				if a == Unrestricted && got != fs.FileInfo(info) {
					t.Fatalf("%v was restricted by nothing", info.mode)
				}
			}
		}
	}
}

// TestJoinedAccessPromisesNoMore joins all pairs of owners, groups and bits. A user may read the whole only if each
// part allows it. The owner of all parts may read the whole, and so may others if all parts allow them.
func TestJoinedAccessPromisesNoMore(t *testing.T) {
	var all []Access
	for uid := range uint32(3) {
		for gid := range uint32(3) {
			for bits := range fs.FileMode(8) {
				all = append(all, Access{uid, gid, bits&4<<6 | bits&2<<4 | bits&1<<2})
			}
		}
	}
	groups := []map[uint32]bool{{}, {0: true}, {1: true}, {2: true}, {1: true, 2: true}, {0: true, 1: true}}
	for _, a := range all {
		for _, b := range all {
			joined := monotone(a).And(monotone(b))
			for uid := range uint32(4) {
				for _, gids := range groups {
					both := mayRead(a, uid, gids) && mayRead(b, uid, gids)
					if whole := mayRead(joined, uid, gids); whole && !both {
						t.Fatalf("user %d of groups %v may read %v, joined of %v and %v", uid, gids, joined, a, b)
					}
				}
			}
			if a.UID == b.UID && a.Perm&b.Perm&0o400 != 0 && !mayRead(joined, a.UID, nil) {
				t.Errorf("the owner of both may not read %v, joined of %v and %v", joined, a, b)
			}
			if a.Perm&b.Perm == 0o444 && !mayRead(joined, 3, nil) {
				t.Errorf("others may not read %v, joined of %v and %v", joined, a, b)
			}
		}
	}
}
