package integration

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwnerAndMask checks that uid, gid and umask replace owner and permissions of the source in all files, and
// that the kernel decides by them.
func TestOwnerAndMask(t *testing.T) {
	requireRoot(t)
	source := tempDir(t)
	cube := small.write(t, filepath.Join(source, "color", "1"), 0, 0, 0)
	if err := os.Chmod(cube, 0o600); err != nil {
		t.Fatal(err)
	}
	const user, group, stranger = 4321, 8765, 4322
	tests := []struct {
		name, options     string
		uid, gid          uint32
		directory, file   os.FileMode
		owner, groupReads bool // may read the cube
		strangerReads     bool
	}{
		{"as in the source", "allow_other", 0, 0, 0o555, 0o400, false, false, false},
		{"owner", "allow_other,uid=4321", user, 0, 0o555, 0o400, true, false, false},
		{"group and mask", "allow_other,gid=8765,umask=027", 0, group, 0o550, 0o440, false, true, false},
		{"all", "allow_other,uid=4321,gid=8765,umask=0", user, group, 0o555, 0o444, true, true, true},
		{"only root", "allow_other,umask=0777", 0, 0, 0, 0, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := mount(t, source, "-o", test.options)
			name := filepath.Join(dir, "color/1/z0/y0/x0.raw")
			for path, mode := range map[string]os.FileMode{dir: test.directory,
				filepath.Join(dir, "color/1"): test.directory, name: test.file} {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				st := info.Sys().(*syscall.Stat_t)
				if st.Uid != test.uid || st.Gid != test.gid || info.Mode().Perm() != mode {
					t.Errorf("%s: owner %d, group %d, mode %o; want %d, %d, %o", path, st.Uid, st.Gid,
						info.Mode().Perm(), test.uid, test.gid, mode)
				}
			}
			for _, reader := range []struct {
				name     string
				uid, gid uint32
				allowed  bool
			}{{"owner", user, stranger, test.owner || test.strangerReads}, {"group", stranger, group, test.groupReads},
				{"stranger", stranger, stranger, test.strangerReads}} {
				if got, stderr := readAs(t, reader.uid, reader.gid, name); (len(got) > 0 &&
					stderr == "") != reader.allowed {
					t.Errorf("%s: got %d bytes, stderr %q; allowed: %v", reader.name, len(got), stderr, reader.allowed)
				}
			}
		})
	}
}
