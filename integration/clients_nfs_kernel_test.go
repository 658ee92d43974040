//go:build clients

package integration

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// guest is a virtual machine with a kernel of Debian. It reaches this machine at 10.0.2.2.
type guest struct {
	*testing.T
	in  io.Writer
	out *bufio.Scanner
}

// startGuest starts a virtual machine. QEMU emulates the processor: that works on every machine, also on one that is
// virtual.
func startGuest(t *testing.T) guest {
	t.Helper()
	dir, err := filepath.Abs("../bin/vm")
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("sh", "vm/install.sh", dir).CombinedOutput(); err != nil {
		skipUnlessRequired(t, fmt.Sprintf("no virtual machine: %v: %s", err, output))
	}
	cmd := exec.Command("qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-display", "none", "-monitor", "none",
		"-serial", "stdio", "-no-reboot",
		"-kernel", filepath.Join(dir, "vmlinuz"), "-initrd", filepath.Join(dir, "initrd"), "-append",
		"console=ttyS0 panic=-1 quiet loglevel=1",
		"-nic", "user,model=virtio-net-pci")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(10*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		end.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g := guest{t, in, bufio.NewScanner(out)}
	if _, code := g.answer("@ready"); code != "0" {
		t.Fatalf("the virtual machine does not start: %s", code)
	}
	return g
}

// answer returns what the machine prints before the line with the mark, and the exit code there.
func (g guest) answer(mark string) (lines []string, code string) {
	g.Helper()
	for g.out.Scan() {
		line := strings.TrimSpace(g.out.Text())
		if code, ok := strings.CutPrefix(line, mark+" "); ok {
			return lines, code
		}
		lines = append(lines, line)
	}
	g.Fatalf("the virtual machine has ended: %v: %q", g.out.Err(), lines)
	return nil, ""
}

// must runs a command in the machine, which must succeed, and returns the lines that it prints.
func (g guest) must(format string, a ...any) []string {
	g.Helper()
	command := fmt.Sprintf(format, a...)
	if _, err := fmt.Fprintln(g.in, command); err != nil {
		g.Fatal(err)
	}
	lines, code := g.answer("@done")
	if code != "0" {
		g.Fatalf("%s: exit code %s: %q", command, code, lines)
	}
	return lines
}

// mountNFS mounts the root of the server in the machine at /mnt. With the option hard, reads wait for a server that is
// gone.
func (g guest) mountNFS(s *nfsServer) {
	g.Helper()
	g.must("mount -t nfs -o ro,vers=3,tcp,nolock,hard,timeo=10,port=%s,mountport=%s,addr=10.0.2.2 10.0.2.2:/ /mnt",
		s.port, s.port)
}

// hash returns the SHA-256 of what a command in the machine prints.
func (g guest) hash(format string, a ...any) string {
	g.Helper()
	lines := g.must(format+" | sha256sum", a...)
	if len(lines) == 0 {
		g.Fatal("no hash")
	}
	sum, _, _ := strings.Cut(lines[len(lines)-1], " ")
	return sum
}

// TestClientNFSKernel mounts over NFS in a virtual machine, by the kernel of Debian. It reads files whole and in parts,
// and lists all. It maps files into memory. A server that is killed and starts again is the same to it, also for open
// files.
func TestClientNFSKernel(t *testing.T) {
	requireFUSE(t)
	g := startGuest(t)
	g.readReferenceData()
	g.mapFiles()
	g.surviveRestart()
}

// readReferenceData compares cubes with the hashes of other programs, and the tree with that of a mount.
func (g guest) readReferenceData() {
	g.Helper()
	root := refdata.Dir(g.T, "wkw")
	list := references(g.T, root)
	dataset := list[0].Dataset
	s := startNFS(g.T, "--listen", "127.0.0.1:0", filepath.Join(root, dataset))
	g.mountNFS(s)
	compared := 0
	for _, r := range list {
		for cube, want := range r.Cubes {
			if name := filepath.Join("/mnt", r.Layer, r.Mag, cube+".raw"); r.Dataset == dataset && want.Bytes < 8<<20 {
				compared++
				if got := g.hash("cat %s", name); got != want.SHA256 {
					g.Errorf("%s: hash %s, want %s", name, got, want.SHA256)
				}
			}
		}
	}
	if compared == 0 {
		g.Error("no cube to compare")
	}
	got := g.must("find /mnt")
	dir := mount(g.T, filepath.Join(root, dataset))
	var want []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".blocks") {
			return fs.SkipDir
		}
		want = append(want, "/mnt"+strings.TrimPrefix(name, dir))
		return err
	})
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		g.Errorf("find: %d entries, want %d, %v", len(got), len(want), err)
	}
	g.must("umount /mnt")
	s.end(g.T)
}

// mapFiles compares the bytes of files that a program maps into memory, as numpy.memmap does. It is a small program:
// the machine would have to unpack 70 MiB for Python and numpy, with an emulated processor.
func (g guest) mapFiles() {
	g.Helper()
	dir := tempDir(g.T)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "mapped"), "./cmd/mapped")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // the machine has no libraries
	if output, err := build.CombinedOutput(); err != nil {
		g.Fatalf("%v: %s", err, output)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer files.Close()
	g.must("wget -q -O /mapped http://10.0.2.2:%s/mapped && chmod 755 /mapped",
		files.URL[strings.LastIndex(files.URL, ":")+1:])

	m := model{voxelType: 2, channels: 1, blockType: 2, blockLog: 5, cubeLog: 2}
	mag := tempDir(g.T)
	m.write(g.T, mag, 0, 0, 0)
	s := startNFS(g.T, "--listen", "127.0.0.1:0", mag)
	g.mountNFS(s)
	if got := g.hash("/mapped /mnt/z0/y0/x0.raw 2>/dev/null"); got != hashOf(m.flat()) {
		g.Error("a file that is mapped into memory has other bytes")
	}
	// An array of numpy: voxels after a header that is no multiple of a page.
	if mapped, read := g.hash("/mapped /mnt/volume.npy 2>/dev/null"), g.hash("cat /mnt/volume.npy"); mapped != read {
		g.Error("an array that is mapped into memory has other bytes")
	}
	g.must("umount /mnt")
	s.end(g.T)
}

// surviveRestart reads a file, kills the server, starts it again, and reads on.
func (g guest) surviveRestart() {
	g.Helper()
	m := model{voxelType: 3, channels: 1, blockType: 2, blockLog: 5, cubeLog: 2}
	dir := tempDir(g.T)
	m.write(g.T, dir, 0, 0, 0)
	want := m.flat()
	address := freeAddress(g.T)
	s := startNFS(g.T, "--listen", address, dir)
	g.mountNFS(s)
	const first = 1 << 20
	if got := g.hash("exec 3</mnt/z0/y0/x0.raw; dd bs=4096 count=%d <&3 2>/dev/null",
		first/4096); got != hashOf(want[:first]) {
		g.Error("the first part has other bytes")
	}
	if err := s.cmd.Process.Kill(); err != nil {
		g.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	again := startNFS(g.T, "--listen", address, dir)
	if got := g.hash("cat <&3"); got != hashOf(want[first:]) {
		g.Error("the rest, after the server was killed, has other bytes")
	}
	const at, length = 777_777, 55_555
	if got := g.hash("dd if=/mnt/z0/y0/x0.raw bs=1 skip=%d count=%d 2>/dev/null", at,
		length); got != hashOf(want[at:][:length]) {
		g.Error("a part has other bytes")
	}
	if lines := g.must("touch /mnt/new 2>&1 || true"); !strings.Contains(strings.Join(lines, " "),
		"Read-only file system") {
		g.Errorf("touch: %q", lines)
	}
	g.must("exec 3<&-; umount /mnt")
	again.end(g.T)
}
