package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// survivor is a reader that has a file open and mapped while its server is replaced. Each check reads bytes that the
// kernel does not have yet.
type survivor struct {
	file   *os.File
	mapped []byte
	want   []byte
	checks int
}

// startSurvivor opens a file of big, and checks it.
func startSurvivor(t *testing.T, name string) *survivor {
	t.Helper()
	s := &survivor{file: open(t, name), want: big.flat()}
	var err error
	if s.mapped, err = unix.Mmap(int(s.file.Fd()), 0, len(s.want), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	s.check(t)
	return s
}

// survivorChecks is the number of checks, that of close included.
const survivorChecks = 5

// check reads a part of the first half of the file, and a part of the second half through the mapping.
func (s *survivor) check(t *testing.T) {
	t.Helper()
	n := len(s.want) / (2 * survivorChecks)
	off := s.checks * n
	s.checks++
	p := make([]byte, n)
	if _, err := s.file.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, s.want[off:off+n]) {
		t.Errorf("reading at %d: %v, or wrong bytes", off, err)
	}
	s.checkMapped(t, len(s.want)-s.checks*n, n)
}

func (s *survivor) checkMapped(t *testing.T, off, n int) {
	t.Helper()
	p := make([]byte, n)
	if copied := copyMapped(p, s.mapped, off); copied != n || !bytes.Equal(p, s.want[off:off+n]) {
		t.Errorf("reading the mapped file at %d: got %d bytes, or wrong ones, want %d", off, copied, n)
	}
}

// close closes the file, and then the mapping, which needs the server, too.
func (s *survivor) close(t *testing.T) {
	t.Helper()
	s.file.Close()
	n := len(s.want) / (2 * survivorChecks)
	s.checkMapped(t, len(s.want)-survivorChecks*n, n)
	if err := unix.Munmap(s.mapped); err != nil {
		t.Error(err)
	}
}

// TestReadersSurvive removes a mount in use and mounts another source at its place. Files that are open read on from
// the old server, which ends with the last of them, and new opens go to the new one. Both may have the same settings.
func TestReadersSurvive(t *testing.T) {
	old, socket := tempDir(t), filepath.Join(tempDir(t), "metrics")
	big.write(t, old, 0, 0, 0)
	log := filepath.Join(tempDir(t), "log")
	for _, test := range []struct {
		name   string
		remove func(t *testing.T, s *server)
	}{
		{"SIGTERM", func(t *testing.T, s *server) {
			s.signal(t, unix.SIGTERM)
			eventually(t, "the mount disappears", func() bool { return !isMounted(s.dir) })
		}},
		{"umount --lazy", func(t *testing.T, s *server) { mustRun(t, "umount", "--lazy", s.dir) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"--cache-size", "1MiB", "--metrics", "unix:" + socket, "--log-file", log}
			s := mountServer(t, old, args...)
			reader := startSurvivor(t, filepath.Join(s.dir, "z0/y0/x0.raw"))
			test.remove(t, s)
			reader.check(t)
			next := mountOn(t, dataset(t), s.dir, args...)
			reader.check(t)
			if got := names(t, next.dir); got != "color" {
				t.Errorf("the new mount shows %q, want its own source", got)
			}
			if text := scrape(t, socket, "/metrics"); len(text) == 0 {
				t.Error("the new server has no metrics")
			}
			mustRun(t, "umount", next.dir)
			next.wantExit(t, 0)
			reader.check(t)
			reader.close(t)
			s.wantExit(t, 0)
		})
	}
}

// TestSignalAfterLazyUmount: a signal ends a server whose mount was removed, and not the next mount at the same place.
func TestSignalAfterLazyUmount(t *testing.T) {
	source := dataset(t)
	s := mountServer(t, source)
	f := open(t, anyFile(t, s.dir))
	mustRun(t, "umount", "--lazy", s.dir)
	next := mountOn(t, source, s.dir)
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	if _, err := f.ReadAt(make([]byte, 1), 0); !isServerGone(err) {
		t.Errorf("reading the open file: %v", err)
	}
	if names(t, next.dir) == "" {
		t.Error("the next mount is gone")
	}
}

// TestSignalAfterRename: a signal also unmounts if a directory above the mountpoint was renamed.
func TestSignalAfterRename(t *testing.T) {
	above := tempDir(t)
	dir, renamed := filepath.Join(above, "mnt"), filepath.Join(tempDir(t), "renamed")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := mountOn(t, dataset(t), dir)
	if err := os.Rename(above, renamed); err != nil {
		t.Fatal(err)
	}
	s.dir = filepath.Join(renamed, "mnt")
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	wantUnmounted(t, s.dir)
}

// TestUnitRestart restarts a server as the systemd unit of the packages says. It does not wait for readers, and they
// read on.
func TestUnitRestart(t *testing.T) {
	old := tempDir(t)
	big.write(t, old, 0, 0, 0)
	dir := tempDir(t)
	s := startService(t, old, dir)
	reader := startSurvivor(t, filepath.Join(dir, "z0/y0/x0.raw"))
	if state := s.stop(t); !state.Success() {
		t.Errorf("the main process ended with %v", state)
	}
	wantUnmounted(t, dir)
	reader.check(t)
	next := startService(t, dataset(t), dir)
	if got := names(t, dir); got != "color" {
		t.Errorf("the new mount shows %q, want its own source", got)
	}
	reader.check(t)
	if state := next.stop(t); !state.Success() {
		t.Errorf("the main process of the next server ended with %v", state)
	}
	next.wantServerGone(t) // nobody reads there
	reader.check(t)
	reader.close(t)
	s.server.wantExit(t, 0)
}

// TestUnitSecondSignal: a signal ends a server that the unit has left to its readers.
func TestUnitSecondSignal(t *testing.T) {
	dir := tempDir(t)
	s := startService(t, dataset(t), dir)
	f := open(t, anyFile(t, dir))
	s.stop(t)
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("reading the open file: %v", err)
	}
	s.server.signal(t, unix.SIGTERM)
	s.server.wantExit(t, 0)
}

// TestUnitLazyUmount: a service whose mount was removed by hand has ended, and can be started again.
func TestUnitLazyUmount(t *testing.T) {
	source, dir := dataset(t), tempDir(t)
	s := startService(t, source, dir)
	f := open(t, anyFile(t, dir))
	mustRun(t, "umount", "--lazy", dir)
	if state := s.wait(t); !state.Success() {
		t.Errorf("the main process ended with %v", state)
	}
	next := startService(t, source, dir)
	if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("reading the open file: %v", err)
	}
	f.Close()
	s.server.wantExit(t, 0)
	next.stop(t)
	next.wantServerGone(t)
}
