package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"
	"golang.org/x/sys/unix"
)

// watch starts wkwfs status --watch; a signal ends it well.
func watch(t *testing.T, stdout *os.File, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, append([]string{"status", "--watch"}, args...)...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(unix.SIGINT), cmd.Wait()); err != nil {
			t.Errorf("%v: %v", cmd.Args, err)
		}
	})
	return cmd
}

// TestStatusWatched: to a file goes one block after the other, or a line of JSON each.
func TestStatusWatched(t *testing.T) {
	dir := mount(t, dataset(t))
	output, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	watch(t, stdout, "--json", dir)
	lines := bufio.NewReader(output)
	var counts []uint64
	for range 2 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, parseStatus(t, line).Reads.Count)
		readDirect(t, filepath.Join(dir, "color/1/z0/y0/x0.raw"), 1)
	}
	if counts[0] != 0 || counts[1] != 1 {
		t.Errorf("reads: %d", counts)
	}
}

// terminal makes a terminal of so many lines: what is written to its other end can be
// read from screen.
func terminal(t *testing.T, lines uint16) (screen, end *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	if end, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return screen, end
}

// TestStatusOnTerminal: the status is written over the last one.
func TestStatusOnTerminal(t *testing.T) {
	dir := mount(t, dataset(t))
	screen, end := terminal(t, 8)
	watch(t, end, dir)
	lines := bufio.NewReader(screen)
	seen := ""
	for range 2 * 7 { // a line is left for the cursor
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += line
	}
	first, second, ok := strings.Cut(seen, "\x1b[7A")
	if !ok || strings.Count(first, "\n") != 7 || strings.Count(second, dir+" shows ") != 1 || strings.Contains(seen, "p99") {
		t.Errorf("got %q", seen)
	}
}

// scrape reads metrics as Prometheus does, by way of a socket.
func scrape(t *testing.T, socket, path string) []byte {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	reply, err := client.Get("http://wkwfs" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, reply.Status, err)
	}
	return b
}

func parseMetrics(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(prometheus.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestMetrics: Prometheus can ask by a socket, which only the owner can use and which goes
// with the mount; and the same is in a file of the mount.
func TestMetrics(t *testing.T) {
	socket := filepath.Join(tempDir(t), "m.sock")
	s := mountServer(t, dataset(t), "--metrics", "unix:"+socket)
	readDirect(t, filepath.Join(s.dir, "color/1/z0/y0/x0.raw"), 1)
	info, err := os.Stat(socket)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v; want 0600", info.Mode(), err)
	}
	file, err := os.ReadFile(filepath.Join(s.dir, ".wkwfs/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string][]byte{"socket": scrape(t, socket, "/metrics"), "file": file} {
		families := parseMetrics(t, text)
		if got := families["wkwfs_read_bytes_total"].GetMetric()[0].GetCounter().GetValue(); got != 4096 {
			t.Errorf("%s: %v bytes read, want 4096", where, got)
		}
		if got := families["wkwfs_read_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleCount(); got != 1 {
			t.Errorf("%s: %v reads, want 1", where, got)
		}
	}
	if goroutines := scrape(t, socket, "/debug/pprof/goroutine?debug=2"); !strings.Contains(string(goroutines), "fsnode") {
		t.Errorf("pprof: %s", goroutines)
	}
	r := wkwfs(t, "mount", "--metrics", "unix:"+socket, dataset(t), tempDir(t))
	if want := "wkwfs: metrics: another server listens at " + socket + "\nhint: "; r.code != 1 || !strings.HasPrefix(r.stderr, want) {
		t.Errorf("a second server: exit code %d, %q; want %q", r.code, r.stderr, want)
	}
	mustRun(t, "umount", s.dir)
	s.wantExit(t, 0)
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket after the mount: %v", err)
	}
}

// TestMetricsAfterKill: the socket of a server that was killed is in nobody's way.
func TestMetricsAfterKill(t *testing.T) {
	socket := filepath.Join(tempDir(t), "m.sock")
	source := dataset(t)
	s := mountServer(t, source, "--metrics", "unix:"+socket)
	s.kill(t)
	if _, err := os.Lstat(socket); err != nil {
		t.Fatal(err)
	}
	mountOn(t, source, s.dir, "-o", "metrics=unix:"+socket)
	if families := parseMetrics(t, scrape(t, socket, "/metrics")); families["wkwfs_info"] == nil {
		t.Error("no metrics")
	}
}

// inNamespace runs the program where the directory is /run/systemd/journal and nothing
// else is below /run; so are the mounts that it makes.
func inNamespace(journal string, args ...string) *exec.Cmd {
	script := `mount -t tmpfs run /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, journal, program}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	return cmd
}

// TestJournal: in the background, where there is a journal, each event is an entry of it,
// with its level.
func TestJournal(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	journal := tempDir(t)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(journal, "socket")})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	source, dir := dataset(t), tempDir(t)
	if r := runCommand(t, inNamespace(journal, "mount", source, dir)); r.code != 0 {
		t.Fatal(r.stderr)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	manager := serviceManager{socket}
	for _, want := range []string{
		"msg=mounted source=" + source + " mountpoint=" + dir, "msg=unmounting", "msg=unmounted",
	} {
		entry := manager.hear(t, deadline)
		if !strings.Contains(entry, "MESSAGE=level=INFO "+want) || !strings.Contains(entry, "PRIORITY=6\n") || !strings.Contains(entry, "SYSLOG_IDENTIFIER=wkwfs\n") {
			t.Errorf("got %q, want %q", entry, want)
		}
	}
}

// TestLogOfRequests: with --debug, each request is a line of the log, and all lines are of
// the format that was asked for.
func TestLogOfRequests(t *testing.T) {
	log := filepath.Join(tempDir(t), "log")
	s := mountServer(t, dataset(t), "--debug", "--log-format", "json", "--log-file", log)
	readDirect(t, filepath.Join(s.dir, "color/1/z0/y0/x0.raw"), 1)
	mustRun(t, "umount", s.dir)
	s.wantExit(t, 0)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		var event struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Time == "" || event.Level == "" || strings.Contains(event.Msg, "\n") {
			t.Errorf("%v, %+v: %s", err, event, line)
		}
		for _, word := range []string{"LOOKUP", "OPEN ", "READ ", "mounted", "unmounted"} {
			found[word] = found[word] || strings.Contains(event.Msg, word)
		}
	}
	for word, ok := range found {
		if !ok {
			t.Errorf("nothing about %s", word)
		}
	}
}
