package integration

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// webServer is a running wkwfs serve or wkwfs view.
type webServer struct {
	cmd    *exec.Cmd
	url    string // without a query; ends with a slash
	query  string // that it printed after the URL
	stderr bytes.Buffer
}

// startWeb runs wkwfs serve with the arguments and waits for its address.
func startWeb(t *testing.T, env []string, args ...string) *webServer {
	t.Helper()
	return startServer(t, env, append([]string{"serve"}, args...)...)
}

// startServer runs a command that serves over HTTP and waits for its address.
func startServer(t *testing.T, env []string, args ...string) *webServer {
	t.Helper()
	s := &webServer{cmd: exec.Command(program, args...)}
	s.cmd.Env = append(s.cmd.Environ(), env...)
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil { // the test failed before it ended the server
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server printed no address: %v", err)
	}
	s.url, s.query, _ = strings.Cut(strings.TrimSpace(line), "?")
	return s
}

// get requests a path. header has names and values by turns.
func (s *webServer) get(t *testing.T, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return response, b
}

// end sends a signal. The server must exit with 0.
func (s *webServer) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("after %v: %v\n%s", signal, err, &s.stderr)
	}
}

// TestServe checks that wkwfs serve answers with the bytes of a source, whole and by ranges, and ends at a
// signal.
func TestServe(t *testing.T) {
	m := model{voxelType: 2, channels: 1, blockType: 2, blockLog: 2, cubeLog: 1}
	dir := t.TempDir()
	mag := filepath.Join(dir, "color", "1")
	m.writeHeader(t, mag)
	m.write(t, mag, 0, 0, 0)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := startWeb(t, nil, "--listen", "127.0.0.1:0", dir)
		if response, body := s.get(t, "color/1/z0/y0/x0.raw"); response.StatusCode != 200 ||
			!bytes.Equal(body, m.flat()) {
			t.Errorf("status %d, %d bytes", response.StatusCode, len(body))
		}
		if response, body := s.get(t, "color/1/z0/y0/x0.raw", "Range", "bytes=10-99"); response.StatusCode != 206 ||
			!bytes.Equal(body, m.flat()[10:100]) {
			t.Errorf("status %d, %d bytes", response.StatusCode, len(body))
		}
		if response, body := s.get(t, "", "Accept", "text/html"); response.StatusCode != 200 ||
			!bytes.Contains(body, []byte(`href="/.wkwfs/viewer/?layer=color"`)) {
			t.Errorf("start page: status %d\n%s", response.StatusCode, body)
		}
		s.end(t, signal)
		if s.stderr.Len() > 0 {
			t.Errorf("stderr:\n%s", &s.stderr)
		}
	}
}

// freeAddress returns a TCP address that is not in use.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestServeNames checks that a server and its metrics answer only requests for their own names. Otherwise a web
// site could read from them after it changes the address of its own name.
func TestServeNames(t *testing.T) {
	requireFUSE(t)
	m := model{voxelType: 1, channels: 1, blockType: 1, blockLog: 1, cubeLog: 1}
	cube := m.write(t, t.TempDir(), 0, 0, 0)
	s := startWeb(t, nil, "--listen", "127.0.0.1:0", "--host", "brains.example", cube)
	_, port, _ := strings.Cut(strings.TrimSuffix(s.url[len("http://"):], "/"), ":")
	metrics := freeAddress(t)
	mount(t, dataset(t), "--metrics", metrics)
	for _, test := range []struct {
		url, host string
		status    int
	}{
		{s.url + "x0.raw", "brains.example:" + port, 200},
		{s.url + "x0.raw", "localhost", 200},
		{s.url + "x0.raw", "evil.example:" + port, 421},
		{"http://" + metrics + "/metrics", metrics, 200},
		{"http://" + metrics + "/metrics", "localhost", 200},
		{"http://" + metrics + "/metrics", "evil.example", 421},
		{"http://" + metrics + "/debug/pprof/cmdline", "evil.example", 421},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s, Host %q: status %d, want %d", test.url, test.host, response.StatusCode, test.status)
		}
	}
	s.end(t, syscall.SIGTERM)
}

// TestServeToAll checks that a server that listens on all addresses without a token prints a warning.
func TestServeToAll(t *testing.T) {
	m := model{voxelType: 1, channels: 1, blockType: 1, blockLog: 1, cubeLog: 1}
	cube := m.write(t, t.TempDir(), 0, 0, 0)
	for _, test := range []struct {
		env    []string
		args   []string
		warns  bool
		status int
	}{
		{nil, nil, true, 200},
		{nil, []string{"--token", "secret"}, false, 401},
		{[]string{"WKWFS_TOKEN=secret"}, nil, false, 401},
	} {
		s := startWeb(t, test.env, append(test.args, "--listen", "0.0.0.0:0", cube)...)
		port := s.url[strings.LastIndex(s.url, ":"):]
		s.url = "http://127.0.0.1" + port
		if response, _ := s.get(t, "x0.raw"); response.StatusCode != test.status {
			t.Errorf("%v: status %d, want %d", test, response.StatusCode, test.status)
		}
		if response, body := s.get(t, "x0.raw", "Authorization", "Bearer secret"); response.StatusCode != 200 ||
			!bytes.Equal(body, m.flat()) {
			t.Errorf("%v: status %d with the token", test, response.StatusCode)
		}
		s.end(t, syscall.SIGTERM)
		if strings.Contains(s.stderr.String(), "EVERYBODY") != test.warns ||
			strings.Contains(s.stderr.String(), "secret") {
			t.Errorf("%v: stderr:\n%s", test, &s.stderr)
		}
	}
}
