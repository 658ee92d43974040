package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestCheckAbsent(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "mag/z0/y0"), 0o755),
		os.Symlink("gone", filepath.Join(dir, "mag/z0/y0/x0")),
		os.Symlink("gone", filepath.Join(dir, "mag/z1")),
		os.Symlink("z0", filepath.Join(dir, "mag/z2")),
		os.Symlink("self", filepath.Join(dir, "mag/self")),
		os.Symlink("gone", filepath.Join(dir, "lost")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	other := errors.New("other")
	for _, c := range []struct {
		dir, name string
		err       error
		want      string // empty: the error that was given
	}{
		{".", "mag/z0/y0/x1", fs.ErrNotExist, ""},
		{".", "mag/z9/y0/x0", fs.ErrNotExist, ""},
		{".", "mag/z0/y0/x0", fs.ErrNotExist, "mag/z0/y0/x0: a symbolic link that leads nowhere"},
		{"mag", "mag/z1/y0/x0", fs.ErrNotExist, "mag/z1: a symbolic link that leads nowhere"},
		{"mag", "mag/z2/y0/x0", fs.ErrNotExist, "mag/z2/y0/x0: a symbolic link that leads nowhere"},
		{"mag", "mag/z2/y0/x1", fs.ErrNotExist, ""},
		{"mag", "mag/self", fs.ErrNotExist,
			"mag/self: a symbolic link that is not followed: too many levels of symbolic links"},
		{".", "lost/z0", fs.ErrNotExist, "lost: a symbolic link that leads nowhere"},
		{"lost", "lost/z0", fs.ErrNotExist, ""}, // not below dir
		{".", "mag/z1", other, ""},
		{".", "mag/z1", nil, ""},
	} {
		err := vfs.CheckAbsent(os.DirFS(dir), c.dir, c.name, c.err)
		switch {
		case c.want == "" && err != c.err:
			t.Errorf("%s below %s: got %v, expected %v", c.name, c.dir, err, c.err)
		case c.want != "" && (err.Error() != c.want || errors.Is(err, fs.ErrNotExist)):
			t.Errorf("%s below %s: got %v, expected %s", c.name, c.dir, err, c.want)
		}
	}
}
