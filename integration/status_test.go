package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// statusOf reads the status file of a mount.
func statusOf(t testing.TB, dir string) status.Status {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, status.StatusFile))
	if err != nil {
		t.Fatal(err)
	}
	return parseStatus(t, b)
}

// parseStatus decodes the JSON of a status.
func parseStatus(t testing.TB, b []byte) (s status.Status) {
	t.Helper()
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatalf("%v:\n%s", err, b)
	}
	return s
}

// readDirect reads the first n pages of a file, each by one request to the server.
func readDirect(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const page = 4096
	memory, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	for i := range n {
		if _, err := f.ReadAt(memory, int64(i)*page); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatus checks that the status counts what was read, in the file and from the command, for a mount and for
// a directory in it.
func TestStatus(t *testing.T) {
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	writeFile(t, filepath.Join(source, "z0/y0/x1.wkw"), setEntry(small.file(t), 7, 0))
	s := mountServer(t, source, "--cache-size", "5MiB")
	if before := statusOf(t, s.dir); before.Reads.Count != 0 || before.Errors[status.Damaged] != 0 {
		t.Errorf("before the first read: %+v, errors %v", before.Reads, before.Errors)
	}
	readDirect(t, filepath.Join(s.dir, "z0/y0/x0.raw"), 5)
	checkBlocks(t, filepath.Join(s.dir, "z0/y0/x1.blocks"), []int{7})
	if _, err := os.Stat(filepath.Join(s.dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for way, got := range map[string]status.Status{
		"file":       statusOf(t, s.dir),
		"command":    parseStatus(t, []byte(mustRun(t, "status", "--json", s.dir))),
		"from below": parseStatus(t, []byte(mustRun(t, "status", "--json", filepath.Join(s.dir, "z0/y0")))),
	} {
		// 7 blocks can be read. Each has the size of a page.
		if got.Reads.Count < 5+7 || got.Reads.Bytes != (5+7)*4096 || got.Reads.P99 < got.Reads.P50 ||
			got.Reads.P50 <= 0 || got.Now.ReadsPerSecond <= 0 {
			t.Errorf("%s: reads %+v, now %+v", way, got.Reads, got.Now)
		}
		if got.Errors[status.Damaged] == 0 || got.Errors[status.NotFound] == 0 || got.Errors[status.Disk] != 0 {
			t.Errorf("%s: errors %v", way, got.Errors)
		}
		if got.Cache.Decoded == 0 || got.Cache.Failures == 0 || got.Cache.BudgetBytes != 5<<20 {
			t.Errorf("%s: cache %+v", way, got.Cache)
		}
		if got.PID != s.pid || got.Source != source || got.Mountpoint != s.dir {
			t.Errorf("%s: process %d, %s on %s; want %d, %s, %s", way, got.PID, got.Source, got.Mountpoint, s.pid,
				source, s.dir)
		}
	}
	text := mustRun(t, "status", s.dir)
	for _, want := range []string{s.dir + " shows " + source + "\n", "\nbytes       48 KiB ", " of 5.0 MiB, ",
		"\nslow reads  none\n", " not found\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("wkwfs status does not print %q:\n%s", want, text)
		}
	}
}

// TestStatusIsHidden checks that programs that walk through a mount do not find the status, and that any
// program can read it by its name.
func TestStatusIsHidden(t *testing.T) {
	dir := mount(t, dataset(t))
	if got := names(t, dir); strings.Contains(got, status.Dir) {
		t.Errorf("the root lists %q", got)
	}
	copied := tempDir(t)
	for _, args := range [][]string{{"find", dir, "-name", "*wkwfs*"},
		{"rsync", "-an", "--out-format=%n", "--exclude=volume.*", dir + "/", copied}} {
		if _, err := exec.LookPath(args[0]); err != nil {
			skipUnlessRequired(t, err.Error())
		}
		if r := runCommand(t, exec.Command(args[0], args[1:]...)); r.code != 0 ||
			strings.Contains(strings.ReplaceAll(r.stdout, dir, ""), "wkwfs") {
			t.Errorf("%v: exit code %d, %s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	file := filepath.Join(dir, status.StatusFile)
	if got := names(t, filepath.Dir(file)); got != "metrics status.json" {
		t.Errorf("the directory has the entries %q", got)
	}
	to := filepath.Join(copied, "status.json")
	for _, args := range [][]string{
		{"cat", file}, {"head", "-c", "1000000", file}, {"dd", "status=none", "bs=100", "if=" + file},
		{"sh", "-c", `cp "$0" "$1" && cat "$1"`, file, to}, {"tail", "-n", "1000", file},
	} {
		if r := runCommand(t, exec.Command(args[0], args[1:]...)); r.code != 0 ||
			parseStatus(t, []byte(r.stdout)).Mountpoint != dir {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	if _, err := os.OpenFile(file, os.O_WRONLY, 0); !errors.Is(err, unix.EROFS) && !errors.Is(err, unix.EACCES) {
		t.Errorf("open to write: %v, want EROFS or EACCES", err)
	}
	if reads := statusOf(t, dir).Reads.Count; reads != 0 {
		t.Errorf("%d reads were counted, want none for the status itself", reads)
	}
}

// TestStatusIsPrivate checks that only the user who mounted may read the status, because it has names of files.
// Options that let other users read the mount do not change that.
func TestStatusIsPrivate(t *testing.T) {
	requireRoot(t)
	dir := mount(t, dataset(t), "-o", "allow_other,uid=4321,gid=4321,umask=0")
	for _, name := range []string{status.StatusFile, status.MetricsFile} {
		if got, stderr := readAs(t, 4321, 4321, filepath.Join(dir, name)); len(got) > 0 ||
			!strings.Contains(stderr, "denied") {
			t.Errorf("%s: another user gets %d bytes, stderr %q", name, len(got), stderr)
		}
	}
	r := asUser(t, "status", dir)
	if want := "hint: run it as the user who mounted\n"; r.code != 1 || !strings.HasSuffix(r.stderr, want) {
		t.Errorf("wkwfs status: exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	info, err := os.Stat(filepath.Join(dir, status.StatusFile))
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 || info.Mode() != 0o400 || info.Size() != 0 {
		t.Errorf("owner %d, mode %v, size %d; want 0, 0400, 0", st.Uid, info.Mode(), info.Size())
	}
}

// TestStatusOfOrdinaryUser checks that an ordinary user who mounted can read the status, and that root cannot.
func TestStatusOfOrdinaryUser(t *testing.T) {
	requireUserMounts(t)
	dir := userDir(t)
	if r := asUser(t, "mount", dataset(t), dir); r.code != 0 {
		t.Fatal(r.stderr)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	if r := asUser(t, "status", "--json", dir); r.code != 0 || parseStatus(t, []byte(r.stdout)).PID != s.pid {
		t.Errorf("exit code %d, %s", r.code, r.stderr)
	}
	if r := wkwfs(t, "status", dir); r.code != 1 || !strings.Contains(r.stderr, "run it as the user who mounted") {
		t.Errorf("as root: exit code %d, stderr %s", r.code, r.stderr)
	}
}

// TestStatusNameIsTaken checks that a layer .wkwfs of the source is not shown, with the reason. The status and the
// other layers are.
func TestStatusNameIsTaken(t *testing.T) {
	source := tempDir(t)
	for _, layer := range []string{status.Dir, "color"} {
		small.write(t, filepath.Join(source, layer, "1"), 0, 0, 0)
	}
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"id":{"name":"x","team":"t"},"dataLayers":[
		{"name":".wkwfs","category":"color","dataFormat":"wkw","boundingBox":{"topLeft":[0,0,0],"width":32,"height":32,"depth":32},"elementClass":"uint8","wkwResolutions":[{"resolution":1,"cubeLength":32}]},
		{"name":"color","category":"color","dataFormat":"wkw","boundingBox":{"topLeft":[0,0,0],"width":32,"height":32,"depth":32},"elementClass":"uint8","wkwResolutions":[{"resolution":1,"cubeLength":32}]}],"scale":[1,1,1]}`))
	requireFUSE(t)
	dir, log := tempDir(t), filepath.Join(tempDir(t), "log")
	const reason = "a mount has something else of this name"
	if r := wkwfs(t, "mount", "--log-file", log, source, dir); r.code != 0 ||
		!strings.Contains(r.stderr, "wkwfs: warning: not shown (name .wkwfs): "+reason) {
		t.Fatalf("mount: exit code %d, %s", r.code, r.stderr)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	if got := names(t, dir); strings.Contains(got, status.Dir) || !strings.Contains(got, "color") {
		t.Fatalf("the root lists %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "color/1/z0/y0/x0.raw")); err != nil ||
		!bytes.Equal(got, small.flat()) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	mustRun(t, "status", dir)
	if b, err := os.ReadFile(log); err != nil || !bytes.Contains(b, []byte(reason)) {
		t.Errorf("the log has no warning: %s, %v", b, err)
	}
	if r := wkwfs(t, "info", source); r.code != 0 || !strings.Contains(r.stdout, reason) {
		t.Errorf("info: exit code %d, %s", r.code, r.stdout)
	}
	if r := wkwfs(t, "check", source); r.code != 1 || !strings.Contains(r.stdout+r.stderr, reason) {
		t.Errorf("check: exit code %d, %s, %s", r.code, r.stdout, r.stderr)
	}
	copied := filepath.Join(tempDir(t), "copy")
	if r := wkwfs(t, "cp", "--quiet", source, ".", copied); r.code != 1 || !strings.Contains(r.stderr, reason) {
		t.Errorf("cp: exit code %d, %s", r.code, r.stderr)
	}
	if got, err := os.ReadFile(filepath.Join(copied, "color/1/z0/y0/x0.raw")); err != nil ||
		!bytes.Equal(got, small.flat()) {
		t.Errorf("copied: %d bytes, %v", len(got), err)
	}
}

// TestStatusErrors checks the errors of wkwfs status.
func TestStatusErrors(t *testing.T) {
	t.Parallel() // most of the time is waiting
	dead, stopped := mountServer(t, dataset(t)), mountServer(t, dataset(t))
	dead.kill(t)
	stopped.signal(t, unix.SIGSTOP)
	t.Cleanup(func() { stopped.signal(t, unix.SIGCONT) })
	for _, test := range []struct {
		name, path, want string
	}{
		{"no mount", tempDir(t),
			" is not in a mount of wkwfs\nhint: grep fuse.wkwfs /proc/self/mounts lists the mounts of wkwfs\n"},
		{"another mount", "/proc/self", " is not in a mount of wkwfs\n"},
		{"absent", filepath.Join(tempDir(t), "absent"), "no such file or directory\nhint: "},
		{"dead", dead.dir, "the mount on " + dead.dir + " is dead: its server has ended\nhint: wkwfs umount " +
			dead.dir + "\n"},
		{"below a dead one", dead.dir + "/color/1", " is dead: its server has ended\n"},
		{"stopped", stopped.dir, "the server of " + stopped.dir + " does not answer: it may be stopped\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if r := wkwfs(t, "status", test.path); r.code != 1 || !strings.Contains(r.stderr, test.want) ||
				r.stdout != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %q", r.code, r.stdout, r.stderr, test.want)
			}
		})
	}
	mustRun(t, "umount", dead.dir)
}
