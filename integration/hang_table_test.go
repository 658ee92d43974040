package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/latefs"
	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// hangingSource writes a dataset of every kind of file that a source can have: layers of WKW and of Precomputed, and a
// cube that is a link. Its layer "kept" is for what is in memory.
func hangingSource(t *testing.T) (source string) {
	t.Helper()
	source = sparse.write(t)
	sparse.model.writeHeader(t, filepath.Join(source, "color/1"))
	labels := filepath.Join(tempDir(t), "labels")
	mustRun(t, "cp", "--quiet", source, "color/precomputed", labels)
	if err := os.CopyFS(filepath.Join(source, "labels"), os.DirFS(labels)); err != nil {
		t.Fatal(err)
	}
	small.write(t, filepath.Join(source, "kept/1"), 0, 0, 0)
	small.writeHeader(t, filepath.Join(source, "kept/1"))
	cube := filepath.Join(source, "color/1/z0/y1/x2.wkw")
	stored := filepath.Join(source, "color/1/stored")
	if err := os.Rename(cube, stored); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../stored", cube); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,5,60],"dataLayers":[
		{"name":"color","category":"color","boundingBox":{"topLeft":[5,3,2],"width":50,"height":40,"depth":70}},
		{"name":"kept","category":"color","boundingBox":{"topLeft":[0,0,0],"width":32,"height":32,"depth":32}},
		{"name":"labels","category":"segmentation","dataFormat":"neuroglancerPrecomputed"}]}`))
	return source
}

// filesOfEachKind are files and directories of each kind in a mount of hangingSource.
func filesOfEachKind(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{
		".", "datasource-properties.json", "color", "color/1", "color/1/z0", "color/1/z0/y0",
		"color/1/z0/y0/x0.raw", "color/1/z0/y1/x2.raw", "color/1/z0/y0/x0.blocks",
		"color/1/z0/y0/x0.blocks/z0/y1/x2.raw",
		"color/1/volume.raw", "color/1/volume.json", "color/1/volume.tif", "color/1/slices",
		"color/1/slices/z0000020.tif",
		"color/1/box/10-20_10-20_10-20.raw", "color/precomputed/info",
		"color/ome.zarr", "color/ome.zarr/.zattrs", "color/ome.zarr/1/0/0/0", "color/ome-v3.zarr/1/c/0/0",
		status.Dir, status.StatusFile,
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	for _, pattern := range []string{"color/precomputed/*/*", "labels/*/chunks/*.raw", "labels/*/volume.raw"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		names = append(names, found[0])
	}
	return names
}

// keptFile is a file in memory: its first page in that of the server, all of it in the page cache.
type keptFile struct{ direct, paged *os.File }

// keepInMemory reads a cube until the source is not needed for it.
func keepInMemory(t *testing.T, dir string) keptFile {
	t.Helper()
	name := filepath.Join(dir, "kept/1/z0/y0/x0.raw")
	k := keptFile{openDirect(t, name), open(t, name)}
	for range 3 { // a block is kept when it is read for the second time
		if err := k.check(); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// check reads what is in memory. At the end of a file, the kernel asks for its size.
func (k keptFile) check() error {
	want := small.flat()
	p := make([]byte, 4096)
	if _, err := k.direct.ReadAt(p, 0); err != nil || !bytes.Equal(p, want[:len(p)]) {
		return fmt.Errorf("read directly: not the model's bytes; error %v", err)
	}
	p = make([]byte, len(want)+1)
	if n, err := k.paged.ReadAt(p, 0); err != io.EOF || !bytes.Equal(p[:n], want) {
		return fmt.Errorf("read from the page cache: %d bytes, not the model's %d; error %v", n, len(want), err)
	}
	return nil
}

func (k keptFile) close() { k.direct.Close(); k.paged.Close() }

// wantAnswers: what does not need the source is answered.
func wantAnswers(t *testing.T, s *server, kept keptFile) {
	t.Helper()
	wantStatusSoon(t, s)
	wantSoon(t, "what is in memory", kept.check)
	wantSoon(t, "the root", func() error { return unix.Stat(s.dir, new(unix.Stat_t)) })
	wantSoon(t, "statfs", func() error { return unix.Statfs(s.dir, new(unix.Statfs_t)) })
	wantSoon(t, status.Dir, func() error { _, err := os.ReadDir(filepath.Join(s.dir, status.Dir)); return err })
}

// waysToUnmount are the commands that unmount. Those that are lazy unmount while requests wait, the others after the
// readers have ended.
var waysToUnmount = [][]string{
	{"umount"}, {"wkwfs", "umount"}, {"umount", "-l"}, {"wkwfs", "umount", "--lazy"},
}

func unmountSoon(t *testing.T, s *server, way []string) {
	t.Helper()
	wantSoon(t, strings.Join(way, " "), func() error {
		args := append(slices.Clone(way), s.dir)
		if args[0] == "wkwfs" {
			args[0] = program
		}
		output, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

// hangTable makes requests of all kinds for files of all kinds while the source hangs. Everything that does not need
// the source is answered, all readers can be killed, and the mount can be unmounted.
func hangTable(t *testing.T, s *server, way []string, hang func()) {
	kept := keepInMemory(t, s.dir)
	files := filesOfEachKind(t, s.dir)
	var all []*requester
	for _, kind := range slices.Sorted(maps.Keys(requestKinds)) {
		all = append(all, startRequester(t, kind, files))
	}
	hang()
	for _, r := range all {
		r.begin(t)
	}
	// The kernel believes what it knows for a second, here and in the source. Afterwards it has to ask.
	for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end) &&
		!t.Failed(); time.Sleep(300 * time.Millisecond) {
		wantAnswers(t, s, kept)
	}
	var waiting []string
	for _, r := range all {
		waiting = append(waiting, fmt.Sprintf("%s %d", r.kind, len(r.waiting(t))))
	}
	t.Logf("how many of %d requests wait: %s", len(files), strings.Join(waiting, ", "))
	lazy := slices.Contains(way, "-l") || slices.Contains(way, "--lazy")
	if lazy {
		unmountSoon(t, s, way)
	}
	killAll(t, all)
	if !lazy {
		wantAnswers(t, s, kept)
	}
	kept.close()
	if !lazy {
		unmountSoon(t, s, way)
	}
}

// TestEveryRequestWhileTheSourceHangs: whatever a source does not answer, every reader can be killed, and everybody
// else is served.
func TestEveryRequestWhileTheSourceHangs(t *testing.T) {
	source := hangingSource(t)
	kinds := []string{"all"}
	for _, k := range latefs.Kinds {
		kinds = append(kinds, string(k))
	}
	for i, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			late := serveLate(t, source)
			s := mountServer(t, late.Dir)
			releaseAtEnd(t, late)
			hang := kind
			if kind == "all" {
				hang = strings.Join(kinds[1:], ",")
			}
			hangTable(t, s, waysToUnmount[i%len(waysToUnmount)], func() { setMode(t, late, "-hang", hang) })
			s.wantExit(t, 0)
		})
	}
}

// TestEveryRequestWhileTheServerIsStopped is the same for a source whose server is stopped: it does not even learn that
// a reader was killed.
func TestEveryRequestWhileTheServerIsStopped(t *testing.T) {
	requireFUSE(t)
	for _, tool := range []string{"mksquashfs", "squashfuse"} {
		if _, err := exec.LookPath(tool); err != nil {
			skipUnlessRequired(t, fmt.Sprintf("needs %s (apt install squashfs-tools squashfuse): %v", tool, err))
		}
	}
	for _, way := range waysToUnmount {
		t.Run(strings.Join(way, " "), func(t *testing.T) {
			t.Parallel()
			image, dir := filepath.Join(tempDir(t), "image"), tempDir(t)
			if output, err := exec.Command("mksquashfs", hangingSource(t), image,
				"-quiet").CombinedOutput(); err != nil {
				t.Fatalf("mksquashfs: %v: %s", err, output)
			}
			squashfuse := exec.Command("squashfuse", "-f", image, dir)
			if err := squashfuse.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := errors.Join(unix.Kill(squashfuse.Process.Pid, unix.SIGCONT),
					exec.Command("umount", dir).Run(), squashfuse.Wait()); err != nil {
					t.Errorf("ending the source: %v", err)
				}
			})
			eventually(t, "squashfuse serves",
				func() bool { _, err := os.Stat(filepath.Join(dir, "color")); return err == nil })
			s := mountServer(t, dir)
			hangTable(t, s, way, func() {
				if err := squashfuse.Process.Signal(unix.SIGSTOP); err != nil {
					t.Error(err)
				}
			})
			if err := squashfuse.Process.Signal(unix.SIGCONT); err != nil {
				t.Error(err)
			}
			s.wantExit(t, 0)
		})
	}
}

// TestEveryRequestWhileWhatLooksLocalHangs is the same for sources that look like a disk of this machine: an overlay of
// a file server, and a directory with a file server below it.
func TestEveryRequestWhileWhatLooksLocalHangs(t *testing.T) {
	requireRoot(t) // to mount
	for _, c := range []struct {
		name string
		look func(t *testing.T, served string) (source string)
	}{
		{"overlay", func(t *testing.T, served string) string {
			dir := tempDir(t)
			layers := "lowerdir=" + served + ":" + tempDir(t)
			if err := unix.Mount("overlay", dir, "overlay", unix.MS_RDONLY, layers); err != nil {
				t.Skip("no overlays here:", err)
			}
			t.Cleanup(func() { unmountDirectory(t, dir) })
			return dir
		}},
		{"directory", func(t *testing.T, served string) string {
			source := hangingSource(t)
			color := filepath.Join(source, "color")
			if err := unix.Mount(filepath.Join(served, "color"), color, "", unix.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unmountDirectory(t, color) })
			return source
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			late := serveLate(t, hangingSource(t))
			s := mountServer(t, c.look(t, late.Dir))
			releaseAtEnd(t, late)
			hangTable(t, s, waysToUnmount[0], func() { setMode(t, late, "-hang", "lookup,getattr,open,readdir,read") })
			setMode(t, late, "-hang=") // an overlay does not interrupt its requests
			s.wantExit(t, 0)
		})
	}
}

func unmountDirectory(t *testing.T, dir string) {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		t.Errorf("unmount %s: %v", dir, err)
	}
}
