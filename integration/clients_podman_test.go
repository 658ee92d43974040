//go:build clients

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// podman runs containers of an image of the program, as one user.
type podman struct {
	*testing.T
	user *syscall.Credential // nil: root
	home string              // of the user, with the storage of podman
}

// command returns a podman command.
func (p podman) command(args ...string) *exec.Cmd {
	cmd := exec.Command("podman", args...)
	cmd.Dir = p.home
	cmd.Env = append(os.Environ(), "HOME="+p.home, "TMPDIR="+p.home, "XDG_RUNTIME_DIR="+p.home,
		"XDG_CONFIG_HOME="+p.home, "XDG_DATA_HOME="+filepath.Join(p.home, "data"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.user}
	return cmd
}

// must runs a podman command, which must succeed, and returns its output.
func (p podman) must(args ...string) string {
	p.Helper()
	output, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.Fatalf("podman %q: %v: %s", args, err, output)
	}
	return string(output)
}

// containerImage is the name of the image in the storage of podman.
const containerImage = "wkwfs-test"

// container returns the arguments that run a container. It has no network. Limits that podman may set without
// privileges, and runc, let it run on machines that are containers themselves.
func container(args ...string) []string {
	return append([]string{"run", "--rm", "--network", "none", "--runtime", "runc", "--cgroup-manager", "cgroupfs",
		"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--cap-drop", "ALL", "--read-only"}, args...)
}

// build makes the image as our Dockerfile does, with the program of the tests. Its first stage would need a registry.
func (p podman) build() {
	p.Helper()
	dockerfile, err := os.ReadFile("../packaging/container/Dockerfile")
	if err != nil {
		p.Fatal(err)
	}
	_, last, ok := bytes.Cut(dockerfile, []byte("\nFROM scratch\n"))
	if !ok {
		p.Fatal("the Dockerfile has no last stage")
	}
	last = bytes.Replace(last, []byte("--from=build /wkwfs"), []byte("wkwfs"), 1)
	static := filepath.Join(p.home, "wkwfs")
	if err := os.WriteFile(filepath.Join(p.home, "Dockerfile"), append([]byte("FROM scratch\n"), last...),
		0o644); err != nil {
		p.Fatal(err)
	}
	if err := build(static); err != nil {
		p.Fatal(err)
	}
	p.must("build", "--isolation", "chroot", "-t", containerImage, p.home)
}

// asRoot returns podman for root, with a storage of its own.
func asRoot(t *testing.T) podman { return podman{t, nil, tempDir(t)} }

// rootless returns podman for a new user without privileges.
func rootless(t *testing.T) podman {
	t.Helper()
	requireUserMounts(t)
	const name = "wkwfs-rootless"
	home := filepath.Join(tempDir(t), "home")
	if output, err := exec.Command("useradd", "-m", "-d", home, name).CombinedOutput(); err != nil {
		t.Fatalf("useradd: %v: %s", err, output)
	}
	account, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	p := podman{t, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, home}
	t.Cleanup(func() {
		p.must("system", "migrate") // ends the process that keeps the user's namespace
		if output, err := exec.Command("userdel", "-r", name).CombinedOutput(); err != nil {
			t.Errorf("userdel: %v: %s", err, output)
		}
	})
	return p
}

// TestClientPodman runs the image of the program with podman, by root and by a user without privileges, with the
// command lines of packaging/container.
func TestClientPodman(t *testing.T) {
	requireFUSE(t)
	requireRoot(t)
	source := tempDir(t)
	small.write(t, source, 0, 0, 0)
	const file = "z0/y0/x0.raw"
	want := small.flat()
	for name, newPodman := range map[string]func(*testing.T) podman{"root": asRoot, "rootless": rootless} {
		t.Run(name, func(t *testing.T) {
			p := newPodman(t)
			p.build()
			t.Cleanup(func() { p.must("rmi", "--all", "--force") })
			data := source + ":/data:ro"
			if output, err := p.command(container("-v", data, containerImage,
				"version")...).CombinedOutput(); err != nil {
				t.Skipf("podman runs no container here: %v: %s", err, output)
			}
			out := filepath.Join(p.home, "out")
			if err := os.Mkdir(out, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(out, 0o777); err != nil {
				t.Fatal(err)
			}
			p.must(container("-v", data, "-v", out+":/out", containerImage, "cp", "-q", "/data", file,
				"/out/copy.raw")...)
			if got, err := os.ReadFile(filepath.Join(out, "copy.raw")); err != nil || !bytes.Equal(got, want) {
				t.Errorf("cp: %d bytes, %v; want the model's %d", len(got), err, len(want))
			}
			mount := container("-d", "--name", "wkwfs-mount", "--cap-add", "SYS_ADMIN", "--device", "/dev/fuse", "-v",
				data)
			if p.user == nil {
				p.propagated(mount, file, want)
			} else {
				p.inside(mount)
			}
		})
	}
}

// propagated mounts in a container, and reads the mount on the host. Stopping the container unmounts.
func (p podman) propagated(mount []string, file string, want []byte) {
	p.Helper()
	shared := tempDir(p.T)
	if err := unix.Mount(shared, shared, "", unix.MS_BIND, ""); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = unix.Unmount(shared, unix.MNT_DETACH) })
	if err := unix.Mount("", shared, "", unix.MS_SHARED, ""); err != nil {
		p.Fatal(err)
	}
	dir := filepath.Join(shared, "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		p.Fatal(err)
	}
	p.must(append(mount, "--mount", fmt.Sprintf("type=bind,source=%s,target=/mnt,bind-propagation=rshared", shared),
		containerImage, "mount", "--foreground", "--allow-other", "/data", "/mnt/data")...)
	eventually(p, "the mount shows on the host", func() bool { return isMounted(dir) })
	if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(got, want) {
		p.Errorf("the mount on the host: %d bytes, %v; want the model's %d", len(got), err, len(want))
	}
	p.must("stop", "wkwfs-mount")
	eventually(p, "the mount disappears", func() bool { return !isMounted(dir) })
}

// inside mounts in a container of a user without privileges. Other programs in the container see the mount.
func (p podman) inside(mount []string) {
	p.Helper()
	mountpoint := filepath.Join(p.home, "mnt")
	if err := os.Mkdir(mountpoint, 0o777); err != nil {
		p.Fatal(err)
	}
	p.must(append(mount, "-v", mountpoint+":/mnt", containerImage, "mount", "--foreground", "/data", "/mnt")...)
	eventually(p, "the mount shows in the container", func() bool {
		output, err := p.command("exec", "wkwfs-mount", "/wkwfs", "status", "/mnt").CombinedOutput()
		return err == nil && strings.Contains(string(output), "/data")
	})
	p.must("stop", "wkwfs-mount")
}
