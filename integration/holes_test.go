package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHoles checks SEEK_HOLE and SEEK_DATA against the model. All bytes in a hole are zeros, and long runs of
// absent cubes are holes.
func TestHoles(t *testing.T) {
	dir := filepath.Join(mount(t, holey.write(t)), "color/1")
	for name, header := range map[string]int64{"volume.raw": 0, "volume.npy": 4096} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		size, _ := f.Seek(0, io.SeekEnd)
		var data int64
		for off := int64(0); off < size; {
			start, err := f.Seek(off, unix.SEEK_DATA)
			if errors.Is(err, syscall.ENXIO) {
				break
			}
			end, err2 := f.Seek(start, unix.SEEK_HOLE)
			if err != nil || err2 != nil || start < off || end <= start {
				t.Fatalf("%s: after %d: data from %d to %d; %v, %v", name, off, start, end, err, err2)
			}
			hole := make([]byte, start-off)
			if _, err := f.ReadAt(hole, off); err != nil || len(bytes.Trim(hole, "\x00")) != 0 {
				t.Errorf("%s: the hole from %d to %d is not zeros; %v", name, off, start, err)
			}
			data, off = data+end-start, end
		}
		if want := int64(4*64*64*64) + header; data < want || data > want+want/4 {
			t.Errorf("%s: %d bytes outside of holes, want the %d bytes of four cubes and at most a quarter more", name,
				data, want)
		}
		if _, err := f.Seek(size, unix.SEEK_DATA); !errors.Is(err, syscall.ENXIO) {
			t.Errorf("%s: SEEK_DATA at the end: %v, want ENXIO", name, err)
		}
	}
	cube, err := os.Open(filepath.Join(dir, "z1/y3/x0.raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer cube.Close()
	if end, err := cube.Seek(0, unix.SEEK_HOLE); err != nil || end != 64*64*64 {
		t.Errorf("a cube has a hole at %d, error %v; want none", end, err)
	}
}

// TestStoredSize checks that st_blocks counts what is stored, so that du shows the space on disk.
func TestStoredSize(t *testing.T) {
	source := holey.write(t)
	dir := filepath.Join(mount(t, source), "color/1")
	var st, cube syscall.Stat_t
	var stored int64
	for c := range holey.cubes {
		below := filepath.Join(source, "color/1", fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
		above := filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0]))
		if err := errors.Join(syscall.Stat(below, &st), syscall.Stat(above, &cube)); err != nil {
			t.Fatal(err)
		}
		if cube.Blocks != st.Blocks {
			t.Errorf("%s: st_blocks is %d, want %d", above, cube.Blocks, st.Blocks)
		}
		stored += st.Blocks
	}
	if err := syscall.Stat(filepath.Join(dir, "volume.raw"), &st); err != nil || st.Blocks != stored {
		t.Errorf("volume.raw: st_blocks is %d, want %d; error %v", st.Blocks, stored, err)
	}
}
