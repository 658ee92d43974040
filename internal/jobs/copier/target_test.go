package copier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// TestNote: a copy of a directory is resumed, or goes into the directory if that is complete or of
// another copy.
func TestNote(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("ds", 0o777); err != nil {
		t.Fatal(err)
	}
	source, err := paths.Real("ds")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, dest string
		complete   bool
		want       string // the directory that is written to
	}{
		{"color/1", "out", false, "out"},
		{"color/1", "out", false, "out"}, // resumed
		{"color/1", "out/", false, "out"},
		{"color/2", "out", false, "2"}, // another copy: into it
		{"color/1", "whole", true, "whole"},
		{"color/1", "whole", true, "1"},
	}
	for _, test := range tests {
		to, err := Request{Source: source, Path: test.path, Dest: test.dest}.Target(true)
		if err != nil {
			t.Fatal(err)
		}
		to.Close()
		if test.complete {
			for range 2 { // as another process that makes the same copy at the same time
				if err := to.Complete(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := filepath.Base(to.Root.Name()); got != test.want {
			t.Errorf("%s to %s went to %s, want %s", test.path, test.dest, got, test.want)
		}
	}
}
