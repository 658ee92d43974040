package mosaic

import (
	"io/fs"
	"testing"
)

// mayRead is what the kernel does with permission bits (default_permissions).
func mayRead(a access, uid uint32, gids map[uint32]bool) bool {
	switch {
	case uid == 0:
		return true
	case uid == a.uid:
		return a.perm&0o400 != 0
	case gids[a.gid]:
		return a.perm&0o040 != 0
	}
	return a.perm&0o004 != 0
}

// TestJoinedAccessPromisesNoMore joins all pairs of owners, groups and bits, and holds
// that nobody may read the whole who may not read each part; and that those are not
// locked out who own all, or whom all let in.
func TestJoinedAccessPromisesNoMore(t *testing.T) {
	var all []access
	for uid := range uint32(3) {
		for gid := range uint32(3) {
			for bits := range fs.FileMode(8) {
				all = append(all, access{uid, gid, bits&4<<6 | bits&2<<4 | bits&1<<2})
			}
		}
	}
	groups := []map[uint32]bool{{}, {0: true}, {1: true}, {2: true}, {1: true, 2: true}, {0: true, 1: true}}
	for _, a := range all {
		for _, b := range all {
			joined := monotone(a).and(monotone(b))
			for uid := range uint32(4) {
				for _, gids := range groups {
					both := mayRead(a, uid, gids) && mayRead(b, uid, gids)
					if whole := mayRead(joined, uid, gids); whole && !both {
						t.Fatalf("user %d of groups %v may read %v, joined of %v and %v", uid, gids, joined, a, b)
					}
				}
			}
			if a.uid == b.uid && a.perm&b.perm&0o400 != 0 && !mayRead(joined, a.uid, nil) {
				t.Errorf("the owner of both may not read %v, joined of %v and %v", joined, a, b)
			}
			if a.perm&b.perm == 0o444 && !mayRead(joined, 3, nil) {
				t.Errorf("others may not read %v, joined of %v and %v", joined, a, b)
			}
		}
	}
}
