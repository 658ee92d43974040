package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestWrite checks that an output exists for check, and is removed afterwards.
func TestWrite(t *testing.T) {
	w := writing{b: &bench{dir: t.TempDir()}, bytes: 7}
	var seen string
	touch := func(output string) []string { return []string{"touch", output} }
	done, err := w.run(t.Context(), touch, func(output string) error {
		seen = output
		_, err := os.Stat(output)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if done.bytes != 7 || filepath.Dir(seen) != w.b.dir {
		t.Errorf("%d bytes, output %s", done.bytes, seen)
	}
	if names, err := os.ReadDir(w.b.dir); err != nil || len(names) > 0 {
		t.Errorf("not removed: %v, %v", names, err)
	}
}

// TestWrongImport checks that an import with other voxels than the cube is an error.
func TestWrongImport(t *testing.T) {
	dir := t.TempDir()
	m, err := tiny.em().make(t.Context(), dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := m.flatFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	imports := filepath.Join(dir, "imports") // in place of wkwfs: import INPUT OUTPUT …
	script := "#!/bin/sh\nmkdir -p $3/data && cp -r " + m.dir + " $3/data/1\n"
	if err := os.WriteFile(imports, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := writing{b: &bench{dir: dir, program: imports, progress: t.Logf}, input: flat, mag: m, flat: flat}
	if err := w.verify(t.Context()); err != nil {
		t.Errorf("equal voxels: %v", err)
	}
	if err := os.Truncate(flat, m.bytes()-1); err != nil {
		t.Fatal(err)
	}
	if err := w.verify(t.Context()); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("other voxels: error %v", err)
	}
}

// TestWriteWide checks which bytes are not in holes.
func TestWriteWide(t *testing.T) {
	dir := t.TempDir()
	var from []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat(name, 1<<20)), 0o666); err != nil {
			t.Fatal(err)
		}
		from = append(from, path)
	}
	path, size := filepath.Join(dir, "wide"), volume.Vec{64, 512, 2}
	if err := writeWide(t.Context(), path, size, from...); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 4*64*512*2 || strings.Count(string(b), "\x00") != len(b)/32*31 {
		t.Errorf("%d bytes, %d of them 0; want %d and 31 of 32", len(b), strings.Count(string(b), "\x00"), 4*64*512*2)
	}
	for _, test := range []struct {
		y, eighth int
		want      byte
	}{{0, 0, 'a'}, {31, 0, 'a'}, {0, 1, 0}, {32, 0, 0}, {128, 1, 'b'}, {128, 0, 0}, {256, 2, 'a'}} {
		if got := b[4*64*(512+test.y)+32*test.eighth]; got != test.want {
			t.Errorf("row %d of plane 1, eighth %d: %q, want %q", test.y, test.eighth, got, test.want)
		}
	}
}
