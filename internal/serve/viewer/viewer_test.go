package viewer_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/viewer"
)

// maxBytes is how much larger the viewer may make the program.
const maxBytes = 6 << 20

// TestFiles: the viewer has a page, all that it needs, and the licences, and is small. Neuroglancer's own scripts
// make no code of strings, which the policy of the page forbids, but for annotations, which wkwfs does not serve.
func TestFiles(t *testing.T) {
	files := viewer.Files()
	if files == nil {
		t.Skip("there is no viewer: make viewer builds it")
	}
	total := 0
	texts := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		name, packed := strings.CutSuffix(name, ".gz")
		if err != nil || e.IsDir() || name == ".gitignore" {
			return err
		}
		if !packed {
			t.Errorf("%s is not compressed", name)
		}
		b, err := fs.ReadFile(files, name+".gz")
		if err != nil {
			return err
		}
		total += len(b)
		z, err := gzip.NewReader(strings.NewReader(string(b)))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(z)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > maxBytes {
		t.Errorf("%d bytes, want at most %d", total, maxBytes)
	}
	for name, want := range map[string]string{
		"index.html":                  `<script type="module" src="main.bundle.js">`,
		"main.bundle.css":             "neuroglancer",
		"main.bundle.js":              `"./chunk_worker.bundle.js"`,
		"chunk_worker.bundle.js":      `"./async_computation.bundle.js"`,
		"async_computation.bundle.js": "",
		"licenses.txt":                "\nneuroglancer 2.",
	} {
		if text, ok := texts[name]; !ok || !strings.Contains(text, want) {
			t.Errorf("%s: %d bytes, without %q", name, len(text), want)
		}
		if made := strings.Count(texts[name], "new Function(") - strings.Count(texts[name],
			`=new Function("dv","offset","annotationIndex"`); made != 0 {
			t.Errorf("%s has %d functions that are made of strings", name, made)
		}
	}
	for _, name := range []string{"Apache License", "c-blosc", "Zstandard", "LZ4", "codemirror", "ikonate",
		"numcodecs"} {
		if !strings.Contains(texts["licenses.txt"], name) {
			t.Errorf("licenses.txt lacks %s", name)
		}
	}
}
