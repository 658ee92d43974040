package precomputed

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cubes returns the positions of all chunks that are listed.
func cubes(t testing.TB, mag volume.Mag) []volume.Vec {
	t.Helper()
	var all []volume.Vec
	for c, err := range volume.AllCubes(mag) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func versionOf(info fs.FileInfo) vfs.Version { return vfs.VersionOf(info) }

func wantNotExist(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected an error that is fs.ErrNotExist", err)
	}
}

// wantError expects an error that has all of the parts, and does not pass for absence.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected an error with %q", err, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, expected it to have %q", err, part)
		}
	}
}

// readError opens and reads a chunk and returns the first error.
func readError(t testing.TB, mag volume.Mag, c volume.Vec) error {
	t.Helper()
	f, err := mag.OpenCube(c)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Block(t.Context(), volume.Vec{})
	return err
}
