package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rawFile writes a file of voxels that compress about as well as labels do: runs of random numbers. It returns its
// name.
func rawFile(t *testing.T, dir string, bytes int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, bytes)
	for i := 0; i < len(b); {
		run, value := 1+r.IntN(64), byte(r.Uint32())
		for ; run > 0 && i < len(b); run-- {
			b[i] = value
			i++
		}
	}
	name := filepath.Join(dir, "volume.raw")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// importArgs returns the arguments that import a raw file of uint32.
func importArgs(name, dataset, shape string, more ...string) []string {
	args := []string{"import", "-q", name, dataset, "--layer", "l", "--shape", shape, "--dtype", "uint32",
		"--voxel-size", "10,10,10"}
	return append(args, more...)
}

// TestImportMemory: an import with a slab that is larger than its memory, with coarser mags, and past the page cache,
// keeps to the memory.
func TestImportMemory(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector has memory of its own")
	}
	const memory, allowed = 32 << 20, 128 << 20
	dir := tempDir(t)
	name := rawFile(t, dir, 1024*1024*64*4)
	raw := []string{"--compression", "raw"}
	for i, more := range [][]string{nil, {"--mags", "3"}, raw, append(raw, "--mags", "3")} {
		dataset := filepath.Join(dir, fmt.Sprint("out", i))
		cmd := exec.Command(program, importArgs(name, dataset, "1024,1024,64",
			append(more, "--memory", fmt.Sprint(memory, "B"))...)...)
		peak, direct := runWatched(t, cmd)
		t.Logf("%d MiB with --memory %d MiB %v, past the page cache: %v", peak>>20, memory>>20, more, direct)
		if peak > memory+allowed {
			t.Errorf("%v: %d MiB, want at most %d MiB", more, peak>>20, (memory+allowed)>>20)
		}
		if want := slices.Contains(more, "raw") && isExt4(t, dir); direct != want {
			t.Errorf("%v: writes past the page cache: %v, want %v", more, direct, want)
		}
		sameVoxels(t, dataset, name)
		if err := os.RemoveAll(dataset); err != nil {
			t.Fatal(err)
		}
	}
}

// isExt4 reports whether a directory is on ext4, where raw cubes are written past the page cache.
func isExt4(t *testing.T, dir string) bool {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return st.Type == unix.EXT4_SUPER_MAGIC && os.Getpagesize() == 4096
}

// runWatched runs a command. It returns the most memory that it had, and whether it had a file open past the page
// cache. The kernel's own account of a child begins with the memory of the test.
func runWatched(t *testing.T, cmd *exec.Cmd) (peak int, direct bool) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %v", cmd.Args, err)
			}
			return peak, direct
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, highWaterMark(cmd.Process.Pid))
			direct = direct || hasDirectFile(cmd.Process.Pid)
		}
	}
}

// hasDirectFile reports whether a process has a file open with O_DIRECT. What has ended in the meantime has none.
func hasDirectFile(pid int) bool {
	infos, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	return slices.ContainsFunc(infos, func(name string) bool {
		b, _ := os.ReadFile(name)
		flags := regexp.MustCompile(`flags:\s+(\d+)`).FindSubmatch(b)
		if flags == nil {
			return false
		}
		n, _ := strconv.ParseInt(string(flags[1]), 8, 64)
		return n&unix.O_DIRECT != 0
	})
}

// highWaterMark returns the most memory that a process had, in bytes, or 0 if the process has ended.
func highWaterMark(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	kib := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if kib == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(kib[1]))
	return n << 10
}

// sameVoxels checks that a dataset has the voxels of a raw file as mag 1 of layer l.
func sameVoxels(t *testing.T, dataset, name string) {
	t.Helper()
	got := filepath.Join(tempDir(t), "got.raw")
	mustRun(t, "cp", "-q", dataset, "l/1/volume.raw", got)
	if output, err := exec.Command("cmp", got, name).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	os.Remove(got)
}

var importKills = flag.Int("import.kills", 4, "how many imports TestImportKilled and TestImportFinishKilled kill")

// TestImportKilled kills imports at random moments, and gives the same command again. The cubes that a killed import
// left are whole, and in the end all files are those of an import that nobody killed.
func TestImportKilled(t *testing.T) {
	t.Run("compressed",
		func(t *testing.T) { importKilled(t, tempDir(t), "--mags", "2", "--cube", "64", "--memory", "4MiB") })
	// On most disks, these cubes are written past the page cache.
	t.Run("raw", func(t *testing.T) {
		importKilled(t, tempDir(t), "--compression", "raw", "--cube", "128", "--memory", "512MiB")
	})
}

func importKilled(t *testing.T, dir string, args ...string) {
	const shape = "200,180,300"
	name := rawFile(t, dir, 200*180*300*4)
	whole := filepath.Join(dir, "whole")
	start := time.Now()
	mustRun(t, importArgs(name, whole, shape, args...)...)
	took := time.Since(start)
	want := contents(t, filepath.Join(whole, "l"))
	killed := 0
	for i := range *importKills {
		dataset := filepath.Join(dir, fmt.Sprint("killed", i))
		cmd := exec.Command(program, importArgs(name, dataset, shape, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(took))))
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed++
		}
		for path, b := range contents(t, filepath.Join(dataset, "l")) {
			if strings.HasSuffix(path, ".wkw") && !bytes.Equal(b, want[path]) {
				t.Errorf("%s is not whole after a kill", path)
			}
		}
		// The journal goes last. Without it, the import was complete before the kill, or the kill came before all else.
		_, err := os.Stat(filepath.Join(dataset, "l/.import.json"))
		complete := err != nil && len(contents(t, filepath.Join(dataset, "l"))) == len(want)
		r := wkwfs(t, importArgs(name, dataset, shape, args...)...)
		if exists := strings.Contains(r.stderr, "the layer exists already"); exists != complete ||
			r.code != 0 && !exists {
			t.Fatalf("the same command again, of a complete import: %v: exit code %d, stderr %q", complete, r.code,
				r.stderr)
		}
		got := contents(t, filepath.Join(dataset, "l"))
		if len(got) != len(want) {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
		for path := range want {
			if !bytes.Equal(got[path], want[path]) {
				t.Errorf("%s differs from that of an import that was not killed", path)
			}
		}
		os.RemoveAll(dataset)
	}
	t.Logf("%d of %d imports were killed before they ended", killed, *importKills)
	if killed == 0 {
		t.Error("no import was killed before it ended")
	}
}

// TestImportFinishKilled kills wkwfs import --finish at random moments, and gives the same command again. In the end
// the dataset has the files of an import by one process, byte for byte, and no other.
func TestImportFinishKilled(t *testing.T) {
	dir := tempDir(t)
	const shape, parts = "50,40,400", 40
	name := rawFile(t, dir, 50*40*400*4)
	whole, divided := filepath.Join(dir, "whole/out"), filepath.Join(dir, "divided/out")
	command := func(dataset string, more ...string) []string {
		return importArgs(name, dataset, shape, append([]string{"--category", "segmentation", "--mags", "1", "--cube",
			"32", "--memory", "4MiB"}, more...)...)
	}
	mustRun(t, command(whole)...)
	for i := range parts {
		mustRun(t, command(divided, "--part", fmt.Sprintf("%d/%d", i+1, parts))...)
	}
	want := contents(t, whole)
	finish := func(i int) (dataset string, args []string) {
		dataset = filepath.Join(dir, fmt.Sprint("killed", i), "out") // its name is in the metadata
		if err := os.CopyFS(dataset, os.DirFS(divided)); err != nil {
			t.Fatal(err)
		}
		return dataset, command(dataset, "--finish")
	}
	_, args := finish(-1)
	start := time.Now()
	mustRun(t, args...)
	took := time.Since(start)
	killed := map[string]int{}
	for i := range *importKills {
		dataset, args := finish(i)
		cmd := exec.Command(program, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			time.Sleep(time.Duration(rand.Int64N(int64(took))))
		} else { // most of the time is that of the start
			awaitGone(t, filepath.Join(dataset, "l", []string{".import.json", ".import-1-of-40.json",
				".import-20-of-40.json"}[i/2%3]))
		}
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed[finishState(t, dataset)]++
		}
		files := contents(t, dataset) // a lock is removed last, and may be left
		maps.DeleteFunc(files, func(path string, _ []byte) bool { return strings.HasSuffix(path, ".lock") })
		complete := len(files) == len(want)
		r := wkwfs(t, args...)
		if exists := strings.Contains(r.stderr, "the layer exists already"); exists != complete ||
			r.code != 0 && !exists {
			t.Errorf("the same command again, of a complete import: %v: exit code %d, stderr %q", complete, r.code,
				r.stderr)
		}
		got := contents(t, dataset)
		for path := range got {
			if _, ok := want[path]; !ok {
				t.Errorf("%s is left", path)
			}
		}
		for path := range want {
			if !bytes.Equal(got[path], want[path]) {
				t.Errorf("%s differs from that of an import by one process", path)
			}
		}
		os.RemoveAll(filepath.Dir(dataset))
	}
	t.Logf("finishes that were killed, by what they had done: %v", killed)
	if len(killed) == 0 {
		t.Error("no finish was killed before it ended")
	}
}

// awaitGone waits until a file is removed. It does not sleep, because the next files are removed at once.
func awaitGone(t *testing.T, name string) {
	t.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; {
		if _, err := os.Lstat(name); os.IsNotExist(err) {
			return
		}
	}
	t.Errorf("%s is not removed", name)
}

// finishState returns how far a finish that was killed has come.
func finishState(t *testing.T, dataset string) string {
	t.Helper()
	files := contents(t, dataset)
	has := func(part string) bool {
		for path := range files {
			if strings.Contains(path, part) {
				return true
			}
		}
		return false
	}
	switch _, listed := files["/datasource-properties.json"]; {
	case has(".tmp"):
		return "writes the metadata"
	case !listed:
		return "nothing"
	case has("/.import.json"):
		return "has written the metadata"
	case has("/.import-"):
		return "removes the files of the parts"
	}
	return "all"
}

// contents returns the files below a directory, by their paths in it.
func contents(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestImportFullDisk: a full disk is an error with a hint. No part of a cube is left, and the same command goes on
// where there is room.
func TestImportFullDisk(t *testing.T) {
	requireRoot(t)
	dir := tempDir(t)
	name := rawFile(t, dir, 256*256*256*4)
	t.Run("in memory", func(t *testing.T) {
		disk := filepath.Join(dir, "disk")
		mountDisk(t, "none", disk, "tmpfs", 0, "size=4m")
		importFull(t, name, disk, func() { mountDisk(t, "none", disk, "tmpfs", unix.MS_REMOUNT, "size=200m") },
			"--cube", "64", "--memory", "4MiB")
	})
	t.Run("past the page cache", func(t *testing.T) {
		disk := ext4Disk(t)
		fill := filepath.Join(disk, "fill")
		if err := os.WriteFile(fill, make([]byte, 160<<20), 0o666); err != nil {
			t.Fatal(err)
		}
		importFull(t, name, disk, func() { os.Remove(fill) }, "--compression", "raw", "--memory", "512MiB")
	})
}

// importFull imports a file of 256³ uint32 to a disk that is too small, and again after room has made it larger.
func importFull(t *testing.T, name, disk string, room func(), more ...string) {
	t.Helper()
	args := importArgs(name, filepath.Join(disk, "dataset"), "256,256,256", more...)
	output, err := exec.Command(program, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "no space left") ||
		!strings.Contains(string(output), "make room") {
		t.Fatalf("%v: %s", err, output)
	}
	for path := range contents(t, disk) {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
	}
	room()
	mustRun(t, args...)
	sameVoxels(t, filepath.Join(disk, "dataset"), name)
}

func mountDisk(t *testing.T, source, disk, kind string, flags uintptr, options string) {
	t.Helper()
	if err := os.MkdirAll(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(source, disk, kind, flags, options); err != nil {
		t.Fatal(err)
	}
	if flags&unix.MS_REMOUNT == 0 {
		t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	}
}

// ext4Disk mounts a new ext4 of 200 MiB, and returns its mountpoint.
func ext4Disk(t *testing.T) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	disk := filepath.Join(filepath.Dir(image), "disk")
	if err := errors.Join(os.WriteFile(image, nil, 0o666), os.Truncate(image, 200<<20),
		os.Mkdir(disk, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, disk}} {
		if output, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %s", args, err, output)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", "-d", disk).Run() })
	return disk
}
