package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
)

const sampleTable = `22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,relatime shared:2 master:1 - devtmpfs devtmpfs rw,size=12334524k
30 27 0:50 / /mnt/a rw,nosuid - fuse.wkwfs /data/old ro,user_id=0
31 30 0:51 / /mnt/a rw,nosuid - fuse.wkwfs /data/new ro,user_id=0
32 27 0:52 / /mnt/with\040space\134and\011tab rw - fuse.sshfs host:/x\040y rw
`

func TestParseMountTable(t *testing.T) {
	got, err := parseMountTable(strings.NewReader(sampleTable))
	if err != nil {
		t.Fatal(err)
	}
	want := []mounted{
		{22, "/proc", "proc", "proc"},
		{24, "/dev", "devtmpfs", "devtmpfs"},
		{30, "/mnt/a", "fuse.wkwfs", "/data/old"},
		{31, "/mnt/a", "fuse.wkwfs", "/data/new"},
		{32, "/mnt/with space\\and\ttab", "fuse.sshfs", "host:/x y"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, damaged := range []string{"1 2 3\n", "22 27 0:21 / /proc rw,relatime x proc proc rw\n", `1 2 0:1 / /a\04 rw - t s rw` + "\n"} {
		if table, err := parseMountTable(strings.NewReader(damaged)); err == nil {
			t.Errorf("%q: got %v, want an error", damaged, table)
		}
	}
}

func TestTopMount(t *testing.T) {
	table, err := parseMountTable(strings.NewReader(sampleTable))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := topMount(table, "/mnt/a"); !ok || m.Source != "/data/new" {
		t.Errorf("got %v, %v; want the mount on top", m, ok)
	}
	if m, ok := topMount(table, "/mnt"); ok {
		t.Errorf("got %v for a path that is no mountpoint", m)
	}
}

func TestMountTableOfThisProcess(t *testing.T) {
	m, ok, err := mountAt("/proc")
	if err != nil || !ok || m.Type != "proc" {
		t.Errorf("mountAt(/proc) = %v, %v, %v", m, ok, err)
	}
	if isDead("/proc") {
		t.Error("/proc counts as dead")
	}
}

// tempDir is t.TempDir without symbolic links in its own path.
func tempDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolveMountpoint(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir+"/real/sub")
	symlink(t, "real", dir+"/relative")
	symlink(t, dir+"/relative/sub", dir+"/twice")
	symlink(t, "loop", dir+"/loop")
	symlink(t, "gone", dir+"/dangling")
	symlink(t, "/dead", dir+"/to-dead")
	table := []mounted{{1, "/dead", fsnode.Type, ""}, {2, dir + "/to-be-a-link", fsnode.Type, ""}}

	tests := []struct {
		path, want string
		err        error
	}{
		{dir + "/real", dir + "/real", nil},
		{dir + "/real/sub/../", dir + "/real", nil},
		{dir + "/relative", dir + "/real", nil},
		{dir + "/relative/sub", dir + "/real/sub", nil},
		{dir + "/twice", dir + "/real/sub", nil},
		{dir + "/dangling", dir + "/gone", nil},
		{dir + "/absent", dir + "/absent", nil},
		{dir + "/to-dead", "/dead", nil}, // the table knows it: nobody looks at it
		{dir + "/to-be-a-link", dir + "/to-be-a-link", nil},
		{"/", "/", nil},
		{dir + "/absent/sub", "", os.ErrNotExist},
		{dir + "/loop", "", unix.ELOOP},
	}
	for _, test := range tests {
		got, err := resolveMountpoint(test.path, table)
		if !errors.Is(err, test.err) || err == nil && got != test.want {
			t.Errorf("%s: got %q, %v; want %q, %v", test.path, got, err, test.want, test.err)
		}
	}
}

func TestCheckApart(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir+"/data/color/1")
	mkdir(t, dir+"/data2")
	if err := os.WriteFile(dir+"/data/x0.wkw", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		mountpoint, source string
		want               string // part of the error; "" = none
	}{
		{"/data2", "/data", ""},
		{"/data", "/data2", ""},
		{"/data", "/data", "would hide the source"},
		{"/data", "/data/color", "would hide the source"},
		{"/data", "/data/x0.wkw", "would hide the source"},
		{"/data/color", "/data/x0.wkw", ""},
		{"", "/data", "would hide the source"},
		{"/data/color", "/data", "is inside the source"},
		{"/data/color/1", "/data", "is inside the source"},
		{"/data2", "/absent", "no such file"},
	}
	for _, test := range tests {
		err := checkApart(dir+test.mountpoint, dir+test.source)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q on %q: got %v, want %q", test.source, test.mountpoint, err, test.want)
		}
	}
}

func TestHasLine(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"", false}, {"user_allow_other", true}, {"# x\n  user_allow_other \nmount_max = 5\n", true},
		{"#user_allow_other\n", false}, {"user_allow_other_not\n", false},
	}
	for _, test := range tests {
		if got := hasLine(strings.NewReader(test.text), "user_allow_other"); got != test.want {
			t.Errorf("%q: got %v", test.text, got)
		}
	}
}
