//go:build linux

package mounts

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
)

func TestResolve(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir+"/real/sub")
	symlink(t, "real", dir+"/relative")
	symlink(t, dir+"/relative/sub", dir+"/twice")
	symlink(t, "loop", dir+"/loop")
	symlink(t, "gone", dir+"/dangling")
	symlink(t, "/dead", dir+"/to-dead")
	table := Table{{ID: 1, Point: "/dead", Type: fsnode.Type}, {ID: 2, Point: dir + "/to-be-a-link", Type: fsnode.Type}}

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
		{dir + "/to-dead", "/dead", nil}, // it is in the table: not accessed
		{dir + "/to-be-a-link", dir + "/to-be-a-link", nil},
		{"/", "/", nil},
		{dir + "/absent/sub", "", os.ErrNotExist},
		{dir + "/loop", "", unix.ELOOP},
	}
	for _, test := range tests {
		got, err := table.Resolve(test.path)
		if !errors.Is(err, test.err) || err == nil && got != test.want {
			t.Errorf("%s: got %q, %v; want %q, %v", test.path, got, err, test.want, test.err)
		}
	}
}
