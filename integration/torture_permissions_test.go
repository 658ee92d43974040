package integration

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// permissionTrial mounts a random tree as root and lets other users in. The kernel is the oracle: what a user may not
// read in the source, the user may not read in the mount. What a user may read in the source, the user may read in the
// mount, if the way there has no links, no paths of metadata and no access control lists.
var permissionTrial = torture.New("permissions", newPermissionCase, runPermissions)

// permissionCase is a source below source/, what lies beside it, and changes after the mount.
type permissionCase struct {
	Entries     []permissionEntry `json:"entries"`
	Mags        []permissionMag   `json:"mags,omitempty"` // that metadata names
	FollowLinks bool              `json:"follow_links,omitempty"`
	Changes     []permissionEntry `json:"changes,omitempty"`
}

// permissionEntry is a file, a directory or a link with its permissions. Directories that no entry names belong to
// root, and all may search them. A .wkw file is a cube, and a file called header.wkw is a header.
type permissionEntry struct {
	Path string            `json:"path"` // a directory ends in /
	Link string            `json:"link,omitempty"`
	UID  int               `json:"uid,omitempty"`
	GID  int               `json:"gid,omitempty"`
	Mode octal             `json:"mode,omitempty"`
	ACL  []permissionGrant `json:"acl,omitempty"`
}

// permissionMag is a mag that metadata puts somewhere in the source.
type permissionMag struct {
	Layer string `json:"layer"`
	Path  string `json:"path"`
}

// octal is the bits of a mode, which a case has as text.
type octal uint16

func (o octal) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%04o", uint16(o)), nil }
func (o *octal) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%o", (*uint16)(o))
	return err
}

// Those who own entries, and those who read: see readers.
const (
	firstUser, firstGroup = 4321, 8765
	users, groups         = 3, 3
)

// permissionUser is a user who tries to read. groups are those besides gid.
type permissionUser struct {
	uid, gid int
	groups   []int
}

// permissionUsers are in one group each, in two, or in those of others.
var permissionUsers = []permissionUser{
	{firstUser, firstGroup, nil},
	{firstUser + 1, firstGroup + 1, []int{firstGroup}},
	{firstUser + 2, firstGroup + 2, []int{firstGroup + 1}},
}

func (u permissionUser) String() string {
	return fmt.Sprintf("user %d, group %d and %v", u.uid, u.gid, u.groups)
}

// permissionMaker makes up a case.
type permissionMaker struct {
	r *rand.Rand
	c permissionCase
}

func newPermissionCase(r *rand.Rand) permissionCase {
	m := &permissionMaker{r: r}
	m.c.FollowLinks = r.IntN(3) == 0
	m.add("source/")
	for n := range 1 + r.IntN(2) {
		layer := fmt.Sprintf("layer%d", n)
		switch at := "source/" + layer; r.IntN(4) {
		case 0: // metadata says where it is
			at = randomOf(r, []string{"source/hidden/", "source/hidden/deep/"}) + layer
			m.c.Mags = append(m.c.Mags, permissionMag{layer, strings.TrimPrefix(at, "source/") + "/1"})
			m.addParents(at)
			m.addMag(at + "/1")
		case 1: // the mag is a link
			target := m.place() + layer
			m.addParents(target)
			m.add(at + "/")
			m.c.Entries = append(m.c.Entries, permissionEntry{Path: at + "/1", Link: target})
			m.addMag(target)
		default:
			m.add(at + "/")
			m.addMag(at + "/1")
		}
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(4) {
			e := m.permit(randomOf(r, m.c.Entries))
			if e.Link == "" {
				m.c.Changes = append(m.c.Changes, e)
			}
		}
	}
	return m.c
}

// place is a directory for what a link leads to, in the source or beside it.
func (m *permissionMaker) place() string {
	if m.c.FollowLinks && m.r.IntN(2) == 0 {
		return "outside/" + randomOf(m.r, []string{"", "deep/"})
	}
	return "source/hidden/" + randomOf(m.r, []string{"", "deep/"})
}

// addParents enters the directories above a path that are not entered yet.
func (m *permissionMaker) addParents(name string) {
	dir := path.Dir(name)
	if dir == "." || m.has(dir+"/") {
		return
	}
	m.addParents(dir)
	m.add(dir + "/")
}

func (m *permissionMaker) has(name string) bool {
	for _, e := range m.c.Entries {
		if e.Path == name {
			return true
		}
	}
	return false
}

// addMag enters a mag of up to 8 cubes.
func (m *permissionMaker) addMag(dir string) {
	m.add(dir + "/")
	if m.r.IntN(4) > 0 {
		m.add(dir + "/header.wkw")
	}
	for z := range 1 + m.r.IntN(2) {
		m.add(fmt.Sprintf("%s/z%d/", dir, z))
		for y := range 1 + m.r.IntN(2) {
			m.add(fmt.Sprintf("%s/z%d/y%d/", dir, z, y))
			for x := range 1 + m.r.IntN(2) {
				m.addCube(fmt.Sprintf("%s/z%d/y%d/x%d.wkw", dir, z, y, x))
			}
		}
	}
}

// addCube enters a cube, or a link to one.
func (m *permissionMaker) addCube(name string) {
	if m.r.IntN(8) > 0 {
		m.add(name)
		return
	}
	target := m.place() + strings.ReplaceAll(strings.TrimPrefix(name, "source/"), "/", "_")
	m.addParents(target)
	m.c.Entries = append(m.c.Entries, permissionEntry{Path: name, Link: target})
	m.add(target)
}

func (m *permissionMaker) add(name string) {
	m.c.Entries = append(m.c.Entries, m.permit(permissionEntry{Path: name}))
}

// permit draws owner and permissions. Most entries are open to all: otherwise few users could read anything.
func (m *permissionMaker) permit(e permissionEntry) permissionEntry {
	e.UID, e.GID, e.Mode, e.ACL = 0, 0, 0, nil
	if m.r.IntN(4) > 0 {
		return e
	}
	owners, inGroups := []int{0}, []int{0}
	for i := range users {
		owners, inGroups = append(owners, firstUser+i), append(inGroups, firstGroup+i)
	}
	e.UID, e.GID = randomOf(m.r, owners), randomOf(m.r, inGroups)
	e.Mode = randomOf(m.r, []octal{0o755, 0o644, 0o750, 0o640, 0o710, 0o711, 0o700, 0o600, 0o770, 0o705, 0o604, 0o077,
		0o055, 0o044, 0o040, 0o004, 0o001, octal(m.r.IntN(0o1000))})
	if m.r.IntN(4) == 0 {
		e.ACL = m.grants()
	}
	return e
}

func (m *permissionMaker) grants() (all []permissionGrant) {
	if m.r.IntN(2) == 0 {
		all = append(all, permissionGrant{User: firstUser + m.r.IntN(users), Perm: octal(m.r.IntN(8))})
	}
	if m.r.IntN(2) == 0 {
		all = append(all, permissionGrant{Group: firstGroup + m.r.IntN(groups), Perm: octal(m.r.IntN(8))})
	}
	return all
}
