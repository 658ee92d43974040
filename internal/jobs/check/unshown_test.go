package check_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestUnshown: of a dataset with all kinds of faults, only those count that leave out a layer or a mag.
func TestUnshown(t *testing.T) {
	header := slices.Concat(sound[:8], make([]byte, 8))
	mag := func(files fstest.MapFS, dir string) {
		files[dir+"/header.wkw"] = &fstest.MapFile{Data: header}
		files[dir+"/z0/y0/x0.wkw"] = &fstest.MapFile{Data: sound}
	}
	files := fstest.MapFS{"datasource-properties.json": {Data: []byte(box2)}}
	mag(files, "color/1")
	paths := func() []string {
		root, err := webknossos.Recognise(files, ".", webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range check.Unshown(root) {
			if f.Severity != check.Error {
				t.Errorf("%s: severity %s", f.Path, f.Severity)
			}
			found = append(found, f.Path+": "+strings.SplitN(f.Err.Error(), ";", 2)[0])
		}
		return found
	}
	if got := paths(); got != nil {
		t.Errorf("a mag that is absent and a layer without mags: got %q", got)
	}

	for name, content := range map[string]string{
		"color/2":               "a file",
		"gone":                  "a file",
		"other/4/header.wkw":    "nonsense of 16 B",
		"color/1/z0/y0/x1.wkw":  "a damaged cube",
		"color/8/z0/y0/x0.wkw":  string(sound), // without header.wkw
		"color/9/z0/y0/x0.text": "no mag",
	} {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	want := []string{
		"gone: gone: expected a directory, found a regular file",
		"color/2: color/2: expected a directory, found a regular file",
		`other/4: other/4/header.wkw: magic at byte 0: expected "WKW", found "non"`,
	}
	if got := paths(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		path, dir string
		want      bool
	}{
		{"color/2", ".", true},
		{"color/2", "color", true},
		{"color/2", "color/2", true},
		{"color/2", "color/2/z0", false},
		{"color/2", "color/1", false},
		{"color2", "color", false},
		{".", ".", true},
		{".", "color", false},
	} {
		if got := (check.Place{Path: test.path}).Within(test.dir); got != test.want {
			t.Errorf("%s within %s: got %v", test.path, test.dir, got)
		}
	}
}
