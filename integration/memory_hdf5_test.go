package integration

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestMemoryOfHDF5: the limit of memory holds while readers read the layers of a folder with all files of HDF5, sound,
// damaged and hostile.
func TestMemoryOfHDF5(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	root, files := hdf5Files(t)
	folder := tempDir(t)
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(root, f.Mount)); err == nil && info.Mode().IsRegular() {
			link := strings.ReplaceAll(filepath.ToSlash(f.Mount), "/", "-")
			if err := os.Symlink(filepath.Join(root, f.Mount), filepath.Join(folder, link)); err != nil &&
				!errors.Is(err, os.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	const budget = 64 << 20
	s := mountServer(t, folder, "--follow-links", "--cache-size", fmt.Sprint(budget), "--log-file", os.DevNull)
	volumes, err := filepath.Glob(filepath.Join(s.dir, "*", "*", "volume.raw"))
	if err != nil || len(volumes) < 200 {
		t.Fatalf("%d layers, want at least 200: %v", len(volumes), err)
	}
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for n := i; n < len(volumes); n += 8 {
				f, err := os.Open(volumes[n])
				if err != nil {
					continue // it is refused
				}
				if _, err := io.Copy(io.Discard, io.LimitReader(f, 64<<20)); err != nil &&
					!errors.Is(err, syscall.EIO) {
					t.Error(err)
				}
				f.Close()
			}
		})
	}
	readers.Wait()
	checkPeak(t, s, budget)
}
