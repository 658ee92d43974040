package integration

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// permissionModel is all cubes of the trial.
var permissionModel = model{blockLog: 2, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}

// permissionGrant is an entry of an access control list for one user or one group.
type permissionGrant struct {
	User  int   `json:"user,omitempty"`
	Group int   `json:"group,omitempty"`
	Perm  octal `json:"perm"`
}

func runPermissions(t testing.TB, c permissionCase) {
	requireRoot(t)
	base := tempDir(t)
	c.write(t, base)
	source := filepath.Join(base, "source")
	if info, err := os.Stat(source); err != nil || !info.IsDir() {
		t.Skip("there is no source")
	}
	args := []string{"--allow-other"}
	if c.FollowLinks {
		args = append(args, "--follow-links")
	}
	if r := wkwfs(t, "info", source); r.code != 0 {
		t.Skip("nothing that can be mounted: ", r.stderr)
	}
	w := mountWatched(t, source, 1<<20, args...)
	check := permissionCheck{t: t, w: w, c: c, source: source}
	check.all(0)
	if len(c.Changes) == 0 {
		return
	}
	for _, e := range c.Changes {
		e.permit(t, filepath.Join(base, e.Path))
	}
	check.all(changesShow)
}

// changesShow is after which time all entries have changed permissions. It takes seconds; without the change, it would
// take for ever.
const changesShow = deadline

// write makes the tree. Permissions come last.
func (c permissionCase) write(t testing.TB, base string) {
	t.Helper()
	for i, e := range c.Entries {
		name := filepath.Join(base, e.Path)
		if !filepath.IsLocal(e.Path) {
			t.Skip("a path that leads out")
		}
		if _, err := os.Lstat(name); err == nil && !strings.HasSuffix(e.Path, "/") {
			t.Skip("twice the same entry")
		}
		var err error
		switch {
		case e.Link != "":
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.Symlink(linkTarget(e), name))
		case strings.HasSuffix(e.Path, "/"):
			err = os.MkdirAll(name, 0o755)
		case filepath.Base(name) == "header.wkw":
			err = e.writeFile(name, permissionModel.header(0))
		default:
			m := permissionModel
			m.seed = uint32(i)
			err = e.writeFile(name, m.file(t))
		}
		if err != nil {
			t.Skip(err)
		}
	}
	c.writeMetadata(t, base)
	for _, e := range c.Entries {
		if e.Link == "" {
			e.permit(t, filepath.Join(base, e.Path))
		}
	}
}

func (e permissionEntry) writeFile(name string, b []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, b, 0o644))
}

// linkTarget returns what the link has in it: a path from its directory, since links with others do not stay in the
// source.
func linkTarget(e permissionEntry) string {
	target, err := filepath.Rel(filepath.Dir(e.Path), e.Link)
	if err != nil {
		return e.Link
	}
	return target
}

// writeMetadata describes all layers if metadata names one.
func (c permissionCase) writeMetadata(t testing.TB, base string) {
	t.Helper()
	if len(c.Mags) == 0 {
		return
	}
	type mag struct {
		Mag  int    `json:"mag"`
		Path string `json:"path,omitempty"`
	}
	type layer struct {
		Name string `json:"name"`
		Mags []mag  `json:"mags"`
	}
	var layers []layer
	for _, m := range c.Mags {
		layers = append(layers, layer{m.Layer, []mag{{1, m.Path}}})
	}
	text, err := json.Marshal(map[string]any{"dataLayers": layers})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(base, "source", propertiesFile), text)
}

// permit gives an entry its owner, permissions and access control list. An entry without permissions is open to all.
func (e permissionEntry) permit(t testing.TB, name string) {
	t.Helper()
	mode := uint32(e.Mode)
	if e.UID == 0 && e.GID == 0 && e.Mode == 0 {
		mode = 0o755
	}
	if err := unix.Removexattr(name, aclAttribute); err != nil && !errors.Is(err, unix.ENODATA) &&
		!errors.Is(err, unix.ENOTSUP) {
		t.Skip(err)
	}
	if err := errors.Join(os.Chown(name, e.UID, e.GID), unix.Chmod(name, mode)); err != nil {
		t.Skip(err)
	}
	if len(e.ACL) == 0 {
		return
	}
	if err := unix.Setxattr(name, aclAttribute, e.acl(mode), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
		t.Skip(err)
	}
}

const aclAttribute = "system.posix_acl_access"

// acl returns the extended attribute of an access control list: owner, users, group, groups, mask, others.
func (e permissionEntry) acl(mode uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	add := func(tag, perm uint16, id uint32) {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, tag), perm)
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	const nobodys = ^uint32(0)
	add(1, uint16(mode>>6&7), nobodys)
	for _, g := range e.ACL {
		if g.User != 0 {
			add(2, uint16(g.Perm&7), uint32(g.User))
		}
	}
	add(4, uint16(mode>>3&7), nobodys)
	for _, g := range e.ACL {
		if g.User == 0 {
			add(8, uint16(g.Perm&7), uint32(g.Group))
		}
	}
	add(16, 7, nobodys)
	add(32, uint16(mode&7), nobodys)
	return b
}

// permissionCheck compares what users may read in the source and in the mount.
type permissionCheck struct {
	t      testing.TB
	w      *watched
	c      permissionCase
	source string
}

// all checks everything for each user. What is wrong may be right within a while.
func (p permissionCheck) all(while time.Duration) {
	end := time.Now().Add(while)
	mags := p.mags()
	exact := p.exacts(mags)
	for _, user := range permissionUsers {
		for {
			wrong := user.do(p.t, func() (wrong []string) {
				for _, m := range mags {
					wrong = append(wrong, p.mag(user, m, exact)...)
				}
				return wrong
			})
			if len(wrong) == 0 {
				break
			}
			if time.Now().After(end) {
				p.t.Fatal(strings.Join(wrong, "\n"))
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// permissionFound is a mag in the mount, and where its cubes lie.
type permissionFound struct {
	mount, dir string
	cubes      []string
}

// mags returns the mags that root finds.
func (p permissionCheck) mags() (all []permissionFound) {
	dirs, err := filepath.Glob(filepath.Join(p.w.dir, "layer*/1"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, dir := range dirs {
		layer := filepath.Base(filepath.Dir(dir))
		m := permissionFound{mount: dir, dir: filepath.Join(p.source, layer, "1")}
		if i := slices.IndexFunc(p.c.Mags, func(m permissionMag) bool { return m.Layer == layer }); i >= 0 {
			m.dir = filepath.Join(p.source, p.c.Mags[i].Path)
		}
		if m.cubes, err = filepath.Glob(filepath.Join(m.dir, "z*/y*/x*.wkw")); err != nil {
			p.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// exact reports whether the mount has to let all users read a file or directory of a mag who may do so in the source,
// and who may read the metadata. Otherwise it may allow fewer: it joins the permissions of all that must be searched
// and read, and bits cannot express each result.
func (p permissionCheck) exact(m permissionFound, name string) bool {
	needed := p.way(name)
	for _, file := range p.metadataFiles(m) {
		if _, err := os.Lstat(file); err == nil {
			needed = append(needed, p.way(file)...)
		}
	}
	var joined *syscall.Stat_t
	for _, name := range needed {
		var st syscall.Stat_t
		if err := syscall.Lstat(name, &st); err != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			return false
		}
		_, err := unix.Getxattr(name, aclAttribute, nil)
		owner, group, others := st.Mode>>6&7, st.Mode>>3&7, st.Mode&7
		isOpen := others == owner && others == group && (others&5 == 5 ||
			others&4 == 4 && st.Mode&syscall.S_IFMT == syscall.S_IFREG)
		switch {
		case err == nil, owner&group != group, group&others != others:
			return false
		case isOpen:
		case joined == nil:
			joined = &st
		case joined.Uid != st.Uid || joined.Gid != st.Gid:
			return false
		}
	}
	return true
}

// way returns a file and all directories above it, as far as the source.
func (p permissionCheck) way(name string) (way []string) {
	for ; len(name) >= len(p.source); name = filepath.Dir(name) {
		way = append(way, name)
	}
	return way
}

func (p permissionCheck) metadataFiles(m permissionFound) []string {
	return []string{filepath.Join(m.dir, "header.wkw"), filepath.Join(p.source, propertiesFile)}
}

// listedDirectories are those of a mag whose listing is checked.
var listedDirectories = []string{"", "z0", "z0/y0"}

// exacts returns for what exact is true: root looks before the users do.
func (p permissionCheck) exacts(mags []permissionFound) map[string]bool {
	all := map[string]bool{}
	for _, m := range mags {
		for _, cube := range m.cubes {
			all[cube] = p.exact(m, cube)
		}
		for _, dir := range listedDirectories {
			all[filepath.Join(m.dir, dir)] = p.exact(m, filepath.Join(m.dir, dir))
		}
	}
	return all
}

// mag checks the files of a mag as the user who runs it.
func (p permissionCheck) mag(user permissionUser, m permissionFound, exact map[string]bool) (wrong []string) {
	report := func(what, name string, source error) {
		wrong = append(wrong, fmt.Sprintf("%v %s %s; in the source: %v", user, what, strings.TrimPrefix(name, p.w.dir),
			source))
	}
	metadata := p.metadata(m)
	worst := metadata // of the cubes
	for _, cube := range m.cubes {
		file, denied := os.ReadFile(cube)
		if denied = cmp.Or(denied, metadata); denied != nil {
			worst = denied
		}
		stem := filepath.Join(m.mount, strings.TrimSuffix(strings.TrimPrefix(cube, m.dir), ".wkw"))
		for _, name := range []string{stem + ".raw", stem + ".blocks/z0/y0/x0.raw"} {
			got, err := p.read(name)
			switch {
			case denied != nil && len(got) > 0:
				report("may read", name, denied)
			case denied == nil && err == nil && !bytes.Equal(permissionPart(name, file), got):
				report("reads other bytes of", name, nil)
			case denied == nil && errors.Is(err, fs.ErrPermission) && exact[cube]:
				report("may not read", name, nil)
			}
		}
	}
	for _, name := range []string{"volume.raw", "volume.npy", "slices/z0000000.tif", "box/0-9_0-9_0-9.raw",
		"../precomputed/1/0-8_0-8_0-8", "../ome.zarr/1/0/0/0"} {
		if got, _ := p.read(filepath.Join(m.mount, name)); len(got) > 0 && worst != nil {
			report("may read", filepath.Join(m.mount, name), worst)
		}
	}
	for _, dir := range listedDirectories {
		_, denied := os.ReadDir(filepath.Join(m.dir, dir))
		_, err := os.ReadDir(filepath.Join(m.mount, dir))
		switch {
		case denied != nil && err == nil:
			report("may list", filepath.Join(m.mount, dir), denied)
		case denied == nil && metadata == nil && errors.Is(err, fs.ErrPermission) && exact[filepath.Join(m.dir, dir)]:
			report("may not list", filepath.Join(m.mount, dir), nil)
		}
	}
	return wrong
}

// metadata returns why the user may not read the metadata that the voxels of a mag depend on.
func (p permissionCheck) metadata(m permissionFound) error {
	for _, name := range p.metadataFiles(m) {
		if _, err := os.ReadFile(name); errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// read reads a file of the mount.
func (p permissionCheck) read(name string) (b []byte, err error) {
	p.w.request(p.t, "read "+name, func() { b, err = os.ReadFile(name) })
	return b, err
}

// permissionPart returns what a file in the mount has of a cube file: all voxels, or those of the first block.
func permissionPart(name string, file []byte) []byte {
	blocks := permissionModel.read(file)
	if filepath.Base(name) == "x0.raw" && strings.HasSuffix(filepath.Dir(name), ".blocks/z0/y0") {
		return blocks[0]
	}
	return permissionModel.assemble(blocks)
}

// do runs a function as the user, with the user's groups, as far as the kernel checks permissions of files. The thread
// that did it is never used again.
func (u permissionUser) do(t testing.TB, do func() []string) []string {
	t.Helper()
	done := make(chan []string)
	go func() {
		runtime.LockOSThread() // and the thread ends with the goroutine
		var result []string
		defer func() { done <- result }()
		if err := u.become(); err != nil {
			t.Error(err)
			return
		}
		result = do()
	}()
	return <-done
}

// become gives the thread the rights of the user. The functions of package syscall would do that to all threads.
func (u permissionUser) become() error {
	all := make([]uint32, 0, len(u.groups)+1)
	for _, g := range u.groups {
		all = append(all, uint32(g))
	}
	if _, _, number := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(all)),
		uintptr(unsafe.Pointer(unsafe.SliceData(all))), 0); number != 0 {
		return fmt.Errorf("setgroups: %w", number)
	}
	if err := errors.Join(unix.Setfsgid(u.gid), unix.Setfsuid(u.uid)); err != nil {
		return err
	}
	if now, err := unix.SetfsuidRetUid(-1); err != nil || now != u.uid {
		return fmt.Errorf("the user for files is %d, not %d: %w", now, u.uid, err)
	}
	return nil
}
