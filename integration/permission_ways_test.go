package integration

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// otherUser and otherGroup are a user of a mount by root with --allow-other. The user owns no file.
const otherUser, otherGroup = 4321, 8765

// hiddenWay is a way in which a source can refer to data at deep/secret. The mount does not show that
// directory.
type hiddenWay struct {
	name  string
	args  []string                          // of wkwfs mount
	hide  func(t *testing.T, source string) // moves data to deep/secret
	files []string                          // files of the mount that need the data
}

const propertiesFile = "datasource-properties.json"

var (
	// voxelFiles need all cubes of color/1.
	voxelFiles = []string{
		"color/1/volume.raw", "color/1/volume.npy", "color/1/volume.tif", "color/1/slices/z0000009.tif",
		"color/1/box/6-8_4-8_3-5.raw", "color/precomputed/1/4-36_0-32_0-32",
		"color/ome.zarr/1/0/0/0", "color/ome-v3.zarr/1/c/0/0/0",
	}
	// cubeFiles need the cube 1,2,1.
	cubeFiles = []string{"color/1/z1/y2/x1.raw", "color/1/z1/y2/x1.blocks/z0/y0/x0.raw"}
)

var hiddenWays = []hiddenWay{
	{"a link to a mag", nil, linked("color/1", "../deep/secret/1"), append(voxelFiles, cubeFiles...)},
	{"a link to a layer", nil, linked("color", "deep/secret/color"), append(voxelFiles, cubeFiles...)},
	{"a link to a directory of cubes", nil, linked("color/1/z1", "../../deep/secret/z1"),
		append(voxelFiles, cubeFiles...)},
	{"a link to a cube", nil, linked("color/1/z1/y2/x1.wkw", "../../../../deep/secret/x1.wkw"),
		append(voxelFiles, cubeFiles...)},
	{"a link to a link", nil, func(t *testing.T, source string) {
		move(t, filepath.Join(source, "color"), filepath.Join(source, "real"))
		link(t, "../../real", filepath.Join(source, "deep/secret/next"))
		link(t, "deep/secret/next", filepath.Join(source, "color"))
	}, append(voxelFiles, cubeFiles...)},
	{"the path of a mag", nil, func(t *testing.T, source string) {
		move(t, filepath.Join(source, "color/1"), filepath.Join(source, "deep/secret/1"))
		editProperties(t, source, `{"mag":[1,1,1],"path":"./deep/secret/1"}`)
	}, append(voxelFiles, cubeFiles...)},
	{"a link of the metadata", nil, linked(propertiesFile, "deep/secret/notes.txt"),
		append(voxelFiles, propertiesFile)},
	{"a link out of the source", []string{"--follow-links"},
		outside("color", func(t *testing.T, source, target string) {
			link(t, target, filepath.Join(source, "color"))
		}), append(voxelFiles, cubeFiles...)},
	{"a path out of the source", []string{"--follow-links"},
		outside("color/1", func(t *testing.T, source, target string) {
			editProperties(t, source, `{"mag":[1,1,1],"path":"`+target+`"}`)
		}), append(voxelFiles, cubeFiles...)},
}

// linked returns a function that moves an entry of the source to the target of a link, and puts the link in its
// place.
func linked(name, target string) func(t *testing.T, source string) {
	return func(t *testing.T, source string) {
		name := filepath.Join(source, name)
		move(t, name, filepath.Join(filepath.Dir(name), target))
		link(t, target, name)
	}
}

// outside returns a function that moves an entry out of the source. In the source, deep becomes a link. refer
// makes the source refer to the moved entry.
func outside(name string, refer func(t *testing.T, source, target string)) func(t *testing.T, source string) {
	return func(t *testing.T, source string) {
		target := filepath.Join(source, "deep/secret", filepath.Base(name))
		move(t, filepath.Join(source, name), target)
		elsewhere := source + ".outside"
		t.Cleanup(func() { os.RemoveAll(elsewhere) })
		move(t, filepath.Join(source, "deep"), elsewhere)
		link(t, elsewhere, filepath.Join(source, "deep"))
		refer(t, source, filepath.Join(elsewhere, "secret", filepath.Base(name)))
	}
}

// hiddenPlace is a change of permissions.
type hiddenPlace struct {
	name    string
	forbid  func(source string) error
	allowed bool // whether the user may still read the data
}

var hiddenPlaces = []hiddenPlace{
	{"no change", func(string) error { return nil }, true},
	{"search of the directory", chmod("deep/secret", 0o700), false},
	{"search for others", chmod("deep/secret", 0o750), false},
	{"list of the directory", chmod("deep/secret", 0o711), true},
	{"search of the directory above", chmod("deep", 0o700), false},
	{"an access control list on the directory that names another user", accessList(1234, 5, "deep/secret"), false},
	{"an access control list on the directory above that denies the user", accessList(otherUser, 0, "deep"), false},
}

// chmod returns a function that changes the permissions of a file of the source.
func chmod(name string, mode os.FileMode) func(string) error {
	return func(source string) error { return os.Chmod(filepath.Join(source, name), mode) }
}

// accessList returns a function that sets an access control list on a file of the source. The user gets the
// permissions, 0 to 7. All others may read and search.
func accessList(user uint32, permissions uint16, name string) func(string) error {
	return func(source string) error {
		// acl(5), and linux/posix_acl_xattr.h
		const version, owner, namedUser, group, mask, others = 2, 1, 2, 4, 0x10, 0x20
		list := binary.LittleEndian.AppendUint32(nil, version)
		for _, e := range []struct {
			tag, permissions uint16
			id               uint32
		}{{owner, 7, noID}, {namedUser, permissions, user}, {group, 5, noID}, {mask, 7, noID}, {others, 5, noID}} {
			list = binary.LittleEndian.AppendUint16(list, e.tag)
			list = binary.LittleEndian.AppendUint16(list, e.permissions)
			list = binary.LittleEndian.AppendUint32(list, e.id)
		}
		return unix.Setxattr(filepath.Join(source, name), "system.posix_acl_access", list, 0)
	}
}

// noID is the ID in entries that name no user.
const noID = math.MaxUint32

// TestHiddenDataIsNotReadable checks that a user can read through a mount by root only what the user may read
// in the source. It combines all ways to refer to data with all places where a permission can be missing.
func TestHiddenDataIsNotReadable(t *testing.T) {
	requireRoot(t)
	for _, way := range hiddenWays {
		for _, place := range hiddenPlaces {
			t.Run(way.name+", "+place.name, func(t *testing.T) {
				t.Parallel()
				source := openDataset(t)
				way.hide(t, source)
				if err := place.forbid(source); err != nil {
					t.Fatal(err)
				}
				checkAccess(t, mount(t, source, append(way.args, "--allow-other")...), way.files, place.allowed)
			})
		}
	}
}

// TestHiddenFilesAreNotReadable checks that a user needs permission to read the files themselves, and the
// metadata that voxels depend on.
func TestHiddenFilesAreNotReadable(t *testing.T) {
	requireRoot(t)
	for _, test := range []struct {
		name   string
		forbid func(source string) error
		files  []string
	}{
		{"a cube", chmod("color/1/z1/y2/x1.wkw", 0o600), append(voxelFiles, cubeFiles...)},
		{"a cube with an access control list", accessList(otherUser, 0, "color/1/z1/y2/x1.wkw"),
			append(voxelFiles, cubeFiles...)},
		{"a directory of cubes with an access control list", accessList(otherUser, 0, "color/1/z1"),
			append(voxelFiles, cubeFiles...)},
		{"header.wkw", chmod("color/1/header.wkw", 0o600), append(voxelFiles, cubeFiles...)},
		{"header.wkw with an access control list", accessList(otherUser, 0, "color/1/header.wkw"),
			append(voxelFiles, cubeFiles...)},
		{"the metadata", chmod(propertiesFile, 0o600), append(voxelFiles, propertiesFile)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			source := openDataset(t)
			if err := test.forbid(source); err != nil {
				t.Fatal(err)
			}
			checkAccess(t, mount(t, source, "--allow-other"), test.files, false)
		})
	}
}

// TestHiddenChunksAreNotReadable does the same for a Precomputed source, where the key of a scale can be a
// path.
func TestHiddenChunksAreNotReadable(t *testing.T) {
	requireRoot(t)
	const mag = "deep_secret_8_8_8/"
	files := []string{mag + "chunks/0-8_0-8_0-8.raw", mag + "volume.raw", mag + "slices/z0000003.tif",
		mag + "box/0-4_0-4_0-4.raw", "precomputed/" + mag + "0-8_0-8_0-8"}
	places := append(hiddenPlaces, hiddenPlace{"info", chmod("info", 0o600), false},
		hiddenPlace{"a chunk", chmod("deep/secret/8_8_8/0-8_0-8_0-8", 0o600), false},
		hiddenPlace{"a chunk with an access control list", accessList(otherUser, 0, "deep/secret/8_8_8/0-8_0-8_0-8"),
			false})
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			source := openTree(t, tempDir(t))
			writeFile(t, filepath.Join(source, "deep/secret/8_8_8/0-8_0-8_0-8"), bytes.Repeat([]byte("voxels.."), 64))
			writeFile(t, filepath.Join(source, "info"), []byte(`{"data_type":"uint8","num_channels":1,"type":"image","scales":[{"key":"deep/secret/8_8_8",
				"size":[8,8,8],"resolution":[8,8,8],"chunk_sizes":[[8,8,8]],"encoding":"raw","voxel_offset":[0,0,0]}]}`))
			openTree(t, source)
			if err := place.forbid(source); err != nil {
				t.Fatal(err)
			}
			checkAccess(t, mount(t, source, "--allow-other"), files, place.allowed)
		})
	}
}

// checkAccess reads files of a mount as otherUser.
func checkAccess(t *testing.T, mounted string, files []string, allowed bool) {
	t.Helper()
	for _, name := range files {
		got, stderr := readAs(t, otherUser, otherGroup, filepath.Join(mounted, name))
		switch {
		case allowed && (len(got) == 0 || stderr != ""):
			t.Errorf("%s: got %d bytes and %q: the user may read the source", name, len(got), stderr)
		case !allowed && (len(got) != 0 || !strings.Contains(stderr, "Permission denied")):
			t.Errorf("%s: got %d bytes and %q: the user may not read the source", name, len(got), stderr)
		}
	}
}

// openDataset writes a dataset that all users may read, with header.wkw, metadata and an empty directory
// deep/secret.
func openDataset(t *testing.T) string {
	t.Helper()
	source := sparse.write(t)
	sparse.model.writeHeader(t, filepath.Join(source, "color/1"))
	if err := os.MkdirAll(filepath.Join(source, "deep/secret"), 0o755); err != nil {
		t.Fatal(err)
	}
	return openTree(t, source)
}

// openTree lets all users read a directory and search the directories above it.
func openTree(t *testing.T, dir string) string {
	t.Helper()
	if out, err := exec.Command("chmod", "-R", "u=rwX,go=rX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for up := filepath.Dir(dir); strings.HasPrefix(up, os.TempDir()+"/"); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// editProperties replaces the entry of the mag in the metadata of the layer.
func editProperties(t *testing.T, source, mag string) {
	t.Helper()
	name := filepath.Join(source, propertiesFile)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(b), `"category"`)
	if !ok {
		t.Fatalf("no category in %s", b)
	}
	writeFile(t, name, []byte(before+`"mags":[`+mag+`],"category"`+after))
}

// move renames a file or directory.
func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
