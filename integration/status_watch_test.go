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

// watch starts wkwfs status --watch. At the end of the test it sends SIGINT, and the command must exit with 0.
func watch(t *testing.T, stdout *os.File, args ...string) {
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
}

// TestStatusWatched checks that --watch --json writes a line for each status to a pipe.
func TestStatusWatched(t *testing.T) {
	t.Parallel() // most of the time is waiting
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
		t.Errorf("reads in the two lines: %d, want 0 and 1", counts)
	}
}

// terminal opens a pseudo terminal with the given numbers of lines and columns. What is written to end can be read from
// screen.
func terminal(t *testing.T, lines, columns uint16) (screen, end *os.File) {
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
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	if end, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return screen, end
}

// TestStatusOnTerminal checks that each status replaces the one before on the screen, and is cut to its height.
func TestStatusOnTerminal(t *testing.T) {
	t.Parallel() // most of the time is waiting
	dir := mount(t, dataset(t))
	screen, end := terminal(t, 8, 80)
	watch(t, end, dir)
	lines := bufio.NewReader(screen)
	seen := ""
	for range 2 * 7 { // one line remains for the cursor
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += line
	}
	first, second, ok := strings.Cut(seen, "\x1b[7A")
	if !ok || strings.Count(first, "\n") != 7 || strings.Count(second, dir+" shows ") != 1 ||
		strings.Contains(seen, "p99") {
		t.Errorf("the terminal got %q, want two statuses of 7 lines", seen)
	}
}

// TestStatusOnTerminalOfUnknownSize checks that a terminal without a size, as in some containers, shows the whole
// status.
func TestStatusOnTerminalOfUnknownSize(t *testing.T) {
	dir := mount(t, dataset(t))
	screen, end := terminal(t, 0, 0)
	watch(t, end, dir)
	seen := ""
	for lines := bufio.NewReader(screen); !strings.Contains(seen, "slow reads"); {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the terminal got %q, then %v", seen, err)
		}
		seen += line
		if strings.Count(seen, "\x1b[?7h") > 1 {
			t.Fatalf("the first status on the terminal is cut: %q", seen)
		}
	}
}

// scrape requests a path over a socket, as Prometheus does.
func scrape(t *testing.T, socket, path string) []byte {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://wkwfs" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	return b
}

// parseMetrics decodes Prometheus' text format.
func parseMetrics(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(prometheus.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestMetrics checks the metrics over a socket and in the mount. Only the owner may use the socket, and it is
// removed with the mount.
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
	for way, text := range map[string][]byte{"socket": scrape(t, socket, "/metrics"), "file": file} {
		families := parseMetrics(t, text)
		if got := families["wkwfs_read_bytes_total"].GetMetric()[0].GetCounter().GetValue(); got != 4096 {
			t.Errorf("%s: %v bytes read, want 4096", way, got)
		}
		if got := families["wkwfs_read_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleCount(); got != 1 {
			t.Errorf("%s: %v reads, want 1", way, got)
		}
	}
	if goroutines := scrape(t, socket, "/debug/pprof/goroutine?debug=2"); !strings.Contains(string(goroutines),
		"fsnode") {
		t.Errorf("pprof does not show the server's goroutines: %s", goroutines)
	}
	r := wkwfs(t, "mount", "--metrics", "unix:"+socket, dataset(t), tempDir(t))
	if want := "wkwfs: metrics: another server listens at " + socket + "\nhint: "; r.code != 1 ||
		!strings.HasPrefix(r.stderr, want) {
		t.Errorf("a second server: exit code %d, stderr %q; want %q", r.code, r.stderr, want)
	}
	mustRun(t, "umount", s.dir)
	s.wantExit(t, 0)
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket after unmounting: %v, want ENOENT", err)
	}
}

// TestMetricsAfterKill checks that a new server replaces the socket of a killed one.
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
		t.Error("the metrics do not have wkwfs_info")
	}
}

// inNamespace returns a command that runs the program in a mount namespace of its own, with the given directory
// as /run/systemd/journal and nothing else in /run.
func inNamespace(journal string, args ...string) *exec.Cmd {
	script := `mount -t tmpfs run /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, journal, program}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	return cmd
}

// TestJournal checks that a server in the background writes each event to the journal, with its level.
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
	if r := runCommand(t, inNamespace(journal, "mount", source, dir)); r.code != 0 ||
		!strings.HasSuffix(r.stdout, ", log: journalctl -t wkwfs\n") {
		t.Fatal(r)
	}
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	s.signal(t, unix.SIGTERM)
	s.wantExit(t, 0)
	manager := serviceManager{socket}
	for _, want := range []string{
		"msg=mounted source=" + source + " mountpoint=" + dir, "msg=unmounting", "msg=unmounted",
	} {
		entry := manager.receive(t, deadline)
		if !strings.Contains(entry, "MESSAGE=level=INFO "+want) || !strings.Contains(entry, "PRIORITY=6\n") ||
			!strings.Contains(entry, "SYSLOG_IDENTIFIER=wkwfs\n") {
			t.Errorf("got %q, want %q", entry, want)
		}
	}
}

// TestLogOfRequests checks that with --debug each request is a line of the log, and that all lines are JSON.
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
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Time == "" || event.Level == "" ||
			strings.Contains(event.Msg, "\n") {
			t.Errorf("error %v, event %+v, line %s", err, event, line)
		}
		for _, word := range []string{"LOOKUP", "OPEN ", "READ ", "mounted", "unmounted"} {
			found[word] = found[word] || strings.Contains(event.Msg, word)
		}
	}
	for word, ok := range found {
		if !ok {
			t.Errorf("no line of the log has %q", word)
		}
	}
}
