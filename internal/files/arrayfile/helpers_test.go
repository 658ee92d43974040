package arrayfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/volume"
)

// The arrays of the tests have this geometry.
var (
	origin  = volume.Vec{5, 30, 11}
	spacing = [3]float64{11.24, 11.24, 25}
	size    = volume.Vec{37, 21, 19}
)

// array returns the description of an array.
func array(t volume.Type, channels int) header.Array {
	return header.Array{
		Grid: volume.Grid{Size: size, Block: volume.Cube(1), Type: t, Channels: channels, Origin: origin,
			Spacing: spacing},
		Data: "volume.raw",
	}
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// mustOpen opens an array.
func mustOpen(t *testing.T, name string) *Array {
	t.Helper()
	a, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// wantRefused checks that a file cannot be opened, with an error that names it and has the text want.
func wantRefused(t *testing.T, file []byte, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, file)
	a, err := Open(path)
	if err == nil {
		a.Close()
		t.Fatalf("opened as %+v", a.Grid)
	}
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %q, want %q", err, want)
	}
}
