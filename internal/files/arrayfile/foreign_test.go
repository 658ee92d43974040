package arrayfile

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestForeignFormats: a file of a format that is known, and not read, is refused with its name and what to do, by its
// start or by its suffix. So is a folder of them.
func TestForeignFormats(t *testing.T) {
	refused := func(what, name string, content []byte, f foreign) {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		write(t, path, content)
		for _, open := range []string{path, filepath.Dir(path)} {
			if open != path && len(f.suffixes) == 0 {
				continue
			}
			_, err := Open(open)
			if !errors.As(err, new(*volume.UnsupportedError)) || !strings.Contains(err.Error(), f.name) ||
				!strings.Contains(err.Error(), f.instead) ||
				!strings.Contains(err.Error(), open) {
				t.Errorf("%s, %s: got %v", what, open, err)
			}
		}
	}
	for _, f := range foreignFormats {
		for _, suffix := range f.suffixes {
			refused("by name", "file"+suffix, []byte("anything"), f)
			refused("by name", "FILE"+strings.ToUpper(suffix), nil, f)
			if !IsForeign("a/b"+suffix) || IsForeign("a/."+suffix) {
				t.Errorf("%s: IsForeign is wrong", suffix)
			}
			if f.tiff {
				refused("a TIFF", "slide"+suffix, []byte("II*\x00\x08\x00\x00\x00"), f)
			}
		}
		if len(f.magic) > 3 {
			content := append(bytes.Repeat([]byte{'x'}, f.at), f.magic...)
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, append(content, make([]byte, 2000)...))
			if _, err := Open(path); !errors.As(err, new(*volume.UnsupportedError)) ||
				!strings.Contains(err.Error(), f.name) {
				t.Errorf("by its start, %s: got %v", f.name, err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "text")
	write(t, path, []byte("text"))
	if _, err := Open(path); !errors.Is(err, ErrNotRecognised) {
		t.Errorf("a text: got %v", err)
	}
}
