package integration

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// webServer is a wkwfs that serves over HTTP.
type webServer struct {
	cmd    *exec.Cmd
	url    string // ends in a slash; without a query
	stderr bytes.Buffer
}

// startWeb serves a source at a port that is free.
func startWeb(t *testing.T, env []string, args ...string) *webServer {
	t.Helper()
	s := &webServer{cmd: exec.Command(program, append([]string{"serve"}, args...)...)}
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
		t.Fatalf("no address: %v", err)
	}
	s.url, _, _ = strings.Cut(strings.TrimSpace(line), "?")
	return s
}

// get fetches a path.
func (s *webServer) get(t *testing.T, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return reply, b
}

// end sends a signal, and fails unless the server ends well.
func (s *webServer) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("after %v: %v\n%s", signal, err, &s.stderr)
	}
}

// TestServe holds that a source can be read over HTTP, without a mount.
func TestServe(t *testing.T) {
	m := model{voxelType: 2, channels: 1, blockType: 2, blockLog: 2, cubeLog: 1}
	dir := t.TempDir()
	mag := filepath.Join(dir, "color", "1")
	m.writeHeader(t, mag)
	m.write(t, mag, 0, 0, 0)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := startWeb(t, nil, "--listen", "127.0.0.1:0", dir)
		if reply, body := s.get(t, "color/1/z0/y0/x0.raw"); reply.StatusCode != 200 || !bytes.Equal(body, m.flat()) {
			t.Errorf("status %d, %d bytes", reply.StatusCode, len(body))
		}
		if reply, body := s.get(t, "color/1/z0/y0/x0.raw", "Range", "bytes=10-99"); reply.StatusCode != 206 || !bytes.Equal(body, m.flat()[10:100]) {
			t.Errorf("status %d, %d bytes", reply.StatusCode, len(body))
		}
		if reply, body := s.get(t, "", "Accept", "text/html"); reply.StatusCode != 200 || !bytes.Contains(body, []byte("https://neuroglancer-demo.appspot.com/#!")) {
			t.Errorf("start page: status %d\n%s", reply.StatusCode, body)
		}
		s.end(t, signal)
		if s.stderr.Len() > 0 {
			t.Errorf("stderr:\n%s", &s.stderr)
		}
	}
}

// TestServeToAll holds that a server that others can reach warns if it lets everybody in.
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
		if reply, _ := s.get(t, "x0.raw"); reply.StatusCode != test.status {
			t.Errorf("%v: status %d, want %d", test, reply.StatusCode, test.status)
		}
		if reply, body := s.get(t, "x0.raw", "Authorization", "Bearer secret"); reply.StatusCode != 200 || !bytes.Equal(body, m.flat()) {
			t.Errorf("%v: status %d with the token", test, reply.StatusCode)
		}
		s.end(t, syscall.SIGTERM)
		if strings.Contains(s.stderr.String(), "EVERYBODY") != test.warns || strings.Contains(s.stderr.String(), "secret") {
			t.Errorf("%v: stderr:\n%s", test, &s.stderr)
		}
	}
}
