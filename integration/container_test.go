package integration

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// containerRoot makes the root directory of a container: the static program, a source and empty directories. It
// has no libraries and no shell.
func containerRoot(t *testing.T, device bool) (root string) {
	t.Helper()
	root = tempDir(t)
	for _, dir := range []string{"proc", "dev", "mnt", "data/color/1", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	small.write(t, filepath.Join(root, "data/color/1"), 0, 0, 0)
	static := filepath.Join(root, "wkwfs")
	err := os.Link(program, static)
	if os.Getenv(raceVariable) == "1" { // program needs libraries
		err = errors.Join(os.Remove(static), build(static))
	}
	if err != nil {
		t.Fatal(err)
	}
	if device {
		const fuse = 10<<8 | 229
		if err := unix.Mknod(filepath.Join(root, "dev/fuse"), unix.S_IFCHR|0o600, fuse); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// inContainer returns a command that runs below root, in a mount namespace of its own, with only the given
// capabilities.
func inContainer(t *testing.T, root string, capabilities map[string]bool, args ...string) *exec.Cmd {
	t.Helper()
	var drop []string
	last, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(last)))
	if err != nil {
		t.Fatal(err)
	}
	for c := range n + 1 {
		if name := strconv.Itoa(c); !capabilities[name] {
			drop = append(drop, name)
		}
	}
	script := `mount --rbind /proc "$1/proc" && root=$1 drop=$2 && shift 2 && exec capsh --chroot="$root" --drop="$drop" --shell=/wkwfs -- "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, "sh", root, strings.Join(drop, ",")}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	return cmd
}

func requireContainers(t *testing.T) {
	t.Helper()
	requireFUSE(t)
	requireRoot(t)
	if _, err := exec.LookPath("capsh"); err != nil {
		skipUnlessRequired(t, fmt.Sprintf("needs capsh (apt install libcap2-bin): %v", err))
	}
}

const capSysAdmin = "21"

// TestContainer checks that the static program mounts, serves and unmounts in a container that has only the
// device and one capability.
func TestContainer(t *testing.T) {
	requireContainers(t)
	root := containerRoot(t, true)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(root, "notify")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	manager := serviceManager{socket}

	cmd := inContainer(t, root, map[string]bool{capSysAdmin: true}, "mount", "--foreground", "--allow-other", "/data",
		"/mnt")
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET=/notify")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: filepath.Join(root, "mnt"), pid: cmd.Process.Pid, ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	manager.want(t, "READY=1")
	inside := filepath.Join("/proc", strconv.Itoa(s.pid), "root/mnt/color/1/z0/y0/x0.raw")
	if b, err := os.ReadFile(inside); err != nil || len(b) == 0 {
		t.Errorf("reading in the container: %d bytes, %v", len(b), err)
	}
	s.signal(t, unix.SIGTERM)
	manager.want(t, "STOPPING=1")
	s.wantExit(t, 0)
}

// TestContainerLacks checks that an error names the option that gives the container what it lacks.
func TestContainerLacks(t *testing.T) {
	requireContainers(t)
	const hint = "hint: in a container: --device /dev/fuse --cap-add SYS_ADMIN"
	tests := []struct {
		name         string
		device       bool
		capabilities map[string]bool
		want         string
	}{
		{"device", false, map[string]bool{capSysAdmin: true}, "--device /dev/fuse --cap-add SYS_ADMIN\n"},
		{"capability", true, nil, hint},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := runCommand(t, inContainer(t, containerRoot(t, test.device), test.capabilities, "mount", "--foreground",
				"/data", "/mnt"))
			if r.code != 1 || !strings.Contains(r.stderr, test.want) {
				t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, test.want)
			}
		})
	}
}
