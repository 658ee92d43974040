package integration

import (
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

// container is a root directory with the static program, a source and what a container
// has beside: no libraries, no shell.
func container(t *testing.T, device bool) (root string) {
	t.Helper()
	root = tempDir(t)
	for _, dir := range []string{"proc", "dev", "mnt", "data/color/1", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	small.write(t, filepath.Join(root, "data/color/1"), 0, 0, 0)
	cmd := exec.Command("go", "build", "-o", filepath.Join(root, "wkwfs"), "../cmd/wkwfs")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if device {
		const fuse = 10<<8 | 229
		if err := unix.Mknod(filepath.Join(root, "dev/fuse"), unix.S_IFCHR|0o600, fuse); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// inContainer is a command in a mount namespace of its own, below the root, that can
// have no capabilities but these.
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

// TestContainer holds that the static program mounts, serves and unmounts in a
// container with nothing but the device and one capability.
func TestContainer(t *testing.T) {
	requireContainers(t)
	root := container(t, true)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(root, "notify")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	manager := serviceManager{socket}

	cmd := inContainer(t, root, map[string]bool{capSysAdmin: true}, "mount", "--foreground", "--allow-other", "/data", "/mnt")
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
		t.Errorf("in the container: %d bytes, %v", len(b), err)
	}
	s.signal(t, unix.SIGTERM)
	manager.want(t, "STOPPING=1")
	s.wantExit(t, 0)
}

// TestContainerLacks: what the container lacks is said as the flag that gives it.
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
			r := runCommand(t, inContainer(t, container(t, test.device), test.capabilities, "mount", "--foreground", "/data", "/mnt"))
			if r.code != 1 || !strings.Contains(r.stderr, test.want) {
				t.Errorf("exit code %d, stderr %q; want %q", r.code, r.stderr, test.want)
			}
		})
	}
}
