package check_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/jobs/check"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// run checks a source in a file system and returns the findings as sorted lines.
func run(t *testing.T, fsys fs.FS, name string) ([]string, *check.Stats) {
	t.Helper()
	root, err := webknossos.Recognise(fsys, name, webknossos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return runRoot(t, root)
}

func runRoot(t *testing.T, root volume.Root) ([]string, *check.Stats) {
	t.Helper()
	var lines []string
	var stats check.Stats
	err := check.Run(t.Context(), root, check.Options{Jobs: 3, Count: true, Stats: &stats,
		Report: func(f check.Finding) {
			where := f.Path
			if f.Block != nil {
				where += fmt.Sprintf(" [%v]", *f.Block)
			}
			lines = append(lines, fmt.Sprintf("%s %s: %v", f.Severity, where, f.Err))
		}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines, &stats
}

// TestDamaged checks the damaged cubes in testdata. It finds each fault that the README lists, and none in sound cubes.
func TestDamaged(t *testing.T) {
	b, err := os.ReadFile("../../../testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	got, stats := run(t, os.DirFS("../../../testdata/damaged"), ".")
	rows := regexp.MustCompile("(?m)^\\| `(x\\d+\\.wkw)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(string(b), -1)
	if len(rows) != 16 || stats.Cubes.Load() != 16 {
		t.Fatalf("%d cubes in the README, %d found", len(rows), stats.Cubes.Load())
	}
	for _, row := range rows {
		path, fault := "color/1/z0/y0/"+row[1], row[3]
		found := slices.DeleteFunc(slices.Clone(got), func(line string) bool {
			return !strings.HasPrefix(line, "error "+path+": ") && !strings.HasPrefix(line, "error "+path+" [")
		})
		switch text := strings.Join(found, "\n"); {
		case strings.Contains(row[2], "does not fit"):
			if len(found) != 1 || !strings.Contains(text, "geometry at byte 4") {
				t.Errorf("%s: got %q, expected an error of the geometry", path, found)
			}
		case fault == "" && text != "":
			t.Errorf("%s is sound: got %s", path, text)
		case !strings.Contains(text, fault):
			t.Errorf("%s: got %q\nexpected %s", path, found, fault)
		}
	}
	if !stats.Counted.Load() || stats.Found.Load() != 16 {
		t.Errorf("%d cubes counted", stats.Found.Load())
	}
	const sound = 5*8 + 6 + 7 + 6 + 7 // blocks of the sound cubes, then of x5, x6, x8 and x15
	if n := stats.Bytes.Load(); n != sound*512 {
		t.Errorf("%d sound bytes, expected %d", n, sound*512)
	}
	if n := stats.Blocks.Load(); n != 10*8 {
		t.Errorf("%d blocks, expected 80", n)
	}
}

// TestSound checks datasets of other programs. They have no faults.
func TestSound(t *testing.T) {
	sources, _ := filepath.Glob(filepath.Join(refdata.Dir(t, "wkw"), "*", "datasource-properties.json"))
	for i, properties := range sources {
		sources[i] = filepath.Dir(properties)
	}
	for _, source := range append(sources, refdata.Dir(t, "forms/annotation")) {
		got, stats := run(t, os.DirFS(source), ".")
		if len(got) != 0 || stats.Bytes.Load() == 0 {
			t.Errorf("%s: %d sound bytes, found %q", source, stats.Bytes.Load(), got)
		}
	}
}

// TestChunks checks a damaged chunk of a Precomputed volume. The finding has the name of the chunk.
func TestChunks(t *testing.T) {
	source := refdata.Dir(t, "precomputed/damaged/raw_short")
	root, err := precomputed.Recognise(os.DirFS(source), ".", precomputed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := runRoot(t, root)
	chunk := regexp.MustCompile(`^error \d+_\d+_\d+/\d+-\d+_\d+-\d+_\d+-\d+ \[0,0,0\]: `)
	if len(got) == 0 || !chunk.MatchString(got[0]) {
		t.Errorf("found %q", got)
	}
}

// sound is a cube of 2 × 2 × 2 voxels in one block.
var sound = append([]byte("WKW\x01\x01\x01\x01\x01\x10\x00\x00\x00\x00\x00\x00\x00"), "01234567"...)

const box2 = `{"dataLayers": [{"name": "color", "boundingBox": {"topLeft": [0, 0, 0], "width": 4, "height": 2, "depth": 2},
	"mags": [{"mag": 1}, {"mag": 2}]}, {"name": "gone"}]}`

// TestFindings checks the findings of damaged or missing metadata, and of single cubes.
func TestFindings(t *testing.T) {
	header := slices.Concat(sound[:8], make([]byte, 8))
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"sound", map[string]string{}, nil},
		{"no header.wkw", map[string]string{"color/1/header.wkw": "-"},
			[]string{"warning color/1: open color/1/header.wkw: file does not exist"}},
		{"damaged header.wkw", map[string]string{"color/1/header.wkw": "X"},
			[]string{"error color/1: color/1/header.wkw: header at byte 0: expected 16 bytes, found 1"}},
		{"no geometry at all", map[string]string{"color/1/header.wkw": "X", "color/1/z0/y0/x0.wkw": "",
			"color/1/z0/y0/x1.wkw": ""},
			[]string{"error color/1: color/1/header.wkw: header at byte 0: expected 16 bytes, found 1; no cube has the geometry: color/1/z0/y0/x0.wkw: header at byte 0: expected 16 bytes, found 0"}},
		{"damaged metadata", map[string]string{"datasource-properties.json": "{"},
			[]string{"error .: datasource-properties.json: unexpected end of JSON input"}},
		{"metadata of missing layers and mags", map[string]string{"datasource-properties.json": box2},
			[]string{"note color/2: not in the source", "note gone: no mags found"}},
		{"outside of the layer", map[string]string{"datasource-properties.json": box2,
			"color/1/z7/y0/x0.wkw": string(sound)}, []string{
			"note color/2: not in the source", "note gone: no mags found",
			"warning color/1/z7/y0/x0.wkw: lies outside of the layer: voxels 0-2_0-2_14-16, bounding box 0-4_0-2_0-2",
		}},
		{"cut off", map[string]string{"color/1/z0/y0/x1.wkw": string(sound[:20])},
			[]string{"error color/1/z0/y0/x1.wkw [0,0,0]: color/1/z0/y0/x1.wkw: block 0,0,0 at byte 16: expected 8 bytes, found the end of the file at byte 20"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := map[string]string{
				"color/1/header.wkw": string(header), "color/1/z0/y0/x0.wkw": string(sound),
				"color/1/z0/y0/x1.wkw": string(sound),
			}
			maps.Copy(all, c.files)
			fsys := fstest.MapFS{}
			for name, content := range all {
				if content != "-" {
					fsys[name] = &fstest.MapFile{Data: []byte(content)}
				}
			}
			if got, _ := run(t, fsys, "."); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestLevels checks each kind of source. Findings have paths relative to the source.
func TestLevels(t *testing.T) {
	for _, c := range []struct{ dir, name, want string }{
		{"", ".", "color/1/z0/y0/x6.wkw"},
		{"color", ".", "1/z0/y0/x6.wkw"},
		{"color/1", ".", "z0/y0/x6.wkw"},
		{"color/1/z0/y0", "x6.wkw", "x6.wkw"},
	} {
		got, _ := run(t, os.DirFS(filepath.Join("../../../testdata/damaged", c.dir)), c.name)
		want := "error " + c.want + " [1,0,0]: " + c.want +
			": block 1,0,0 at byte 595: expected 512 decoded bytes, found 500"
		if !slices.Contains(got, want) {
			t.Errorf("%s: got\n%s\nexpected\n%s", filepath.Join(c.dir, c.name), strings.Join(got, "\n"), want)
		}
	}
}

// TestCancel cancels a check. Run returns the error of the context.
func TestCancel(t *testing.T) {
	root, err := webknossos.Recognise(os.DirFS("../../../testdata/damaged"), ".", webknossos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	report := func(check.Finding) { cancel() }
	if err := check.Run(ctx, root, check.Options{Jobs: 1, Stats: new(check.Stats), Report: report}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v, expected %v", err, context.Canceled)
	}
}
