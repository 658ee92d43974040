package integration

import (
	"bufio"
	"bytes"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// nfsServer is a running wkwfs nfs.
type nfsServer struct {
	cmd    *exec.Cmd
	port   string
	stderr bytes.Buffer
}

// startNFS runs wkwfs nfs with the arguments and waits for its address.
func startNFS(t *testing.T, args ...string) *nfsServer {
	t.Helper()
	s := &nfsServer{cmd: exec.Command(program, append([]string{"nfs"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil { // the test did not end the server
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server printed no address: %v", err)
	}
	address, err := url.Parse(strings.TrimSpace(line))
	if err != nil || address.Scheme != "nfs" || address.Query().Get("nfsport") != address.Query().Get("mountport") {
		t.Fatalf("got the address %q, %v", line, err)
	}
	s.port = address.Query().Get("nfsport")
	return s
}

// end ends the server and checks that it ends well.
func (s *nfsServer) end(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.stderr.String())
	}
}

// TestNFS starts the server, with the address that it prints, and ends it.
func TestNFS(t *testing.T) {
	t.Parallel()
	m := model{voxelType: 1, channels: 1, blockType: 1, blockLog: 1, cubeLog: 1}
	cube := m.write(t, t.TempDir(), 0, 0, 0)
	s := startNFS(t, "--listen", "127.0.0.1:0", cube)
	s.end(t)
	if s.stderr.Len() > 0 {
		t.Errorf("stderr:\n%s", &s.stderr)
	}
}

// TestNFSListen: addresses that other machines can reach need --trust-clients, and get a warning.
func TestNFSListen(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0"} {
		out, err := exec.Command(program, "nfs", "--listen", address, ".").CombinedOutput()
		if code := err.(*exec.ExitError).ExitCode(); code != 2 || !strings.Contains(string(out), "--trust-clients") {
			t.Errorf("--listen %s: exit code %d, %s", address, code, out)
		}
	}
}
