//go:build clients

package integration

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// url returns the address of an entry for the programs of libnfs.
func (s *nfsServer) url(name string) string {
	return fmt.Sprintf("nfs://127.0.0.1/%s?nfsport=%s&mountport=%s", name, s.port, s.port)
}

// hash reads a file with nfs-cat and returns its SHA-256 and its length in bytes.
func (s *nfsServer) hash(t *testing.T, name string) (sum string, n int64) {
	t.Helper()
	cmd := exec.Command("nfs-cat", s.url(name))
	var stderr bytes.Buffer
	counted := &counter{}
	h := sha256.New()
	cmd.Stdout, cmd.Stderr = io.MultiWriter(h, counted), &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("nfs-cat %s: %v, %s", name, err, &stderr)
	}
	return hex.EncodeToString(h.Sum(nil)), counted.n
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// TestClientNFS compares what libnfs reads with the hashes of other programs, and what it lists with a mount.
func TestClientNFS(t *testing.T) {
	requireFUSE(t)
	compared := 0
	for _, folder := range refdata.WKW() {
		root := refdata.Dir(t, folder)
		datasets := map[string]*nfsServer{}
		for _, r := range references(t, root) {
			s := datasets[r.Dataset]
			if s == nil {
				s = startNFS(t, "--listen", "127.0.0.1:0", filepath.Join(root, r.Dataset))
				datasets[r.Dataset] = s
			}
			for cube, want := range r.Cubes {
				if want.Bytes > 200<<20 {
					continue // it takes long, and shows nothing new
				}
				compared++
				name := filepath.Join(r.Layer, r.Mag, cube+".raw")
				if got, n := s.hash(t, name); got != want.SHA256 || n != want.Bytes {
					t.Errorf("%s/%s: %d bytes with hash %s, want %d with %s", r.Dataset, name, n, got, want.Bytes,
						want.SHA256)
				}
			}
		}
		for dataset, s := range datasets {
			compareListing(t, s, mount(t, filepath.Join(root, dataset)))
			s.end(t)
		}
	}
	if compared == 0 {
		t.Error("no cubes in the reference data")
	}
}

// compareListing compares nfs-ls -R with a walk through a mount.
func compareListing(t *testing.T, s *nfsServer, dir string) {
	t.Helper()
	var want []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir:
			return nil
		case strings.HasSuffix(name, ".blocks"):
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if e.IsDir() {
			size = 4096
		}
		want = append(want, fmt.Sprintf("%s %d %s", info.Mode().Perm(), size, strings.TrimPrefix(name, dir+"/")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("nfs-ls", "-R", s.url("")).Output()
	if err != nil {
		t.Fatalf("nfs-ls: %v", err)
	}
	var got []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Fields(lines.Text()) // mode, links, user, group, size, name
		if len(f) != 6 {
			t.Fatalf("nfs-ls: %s", lines.Text())
		}
		got = append(got, fmt.Sprintf("-%s %s %s", f[0][1:], f[4], strings.TrimPrefix(f[5], "/")))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("nfs-ls -R lists %d entries, the mount %d; the first: %q, %q", len(got), len(want),
			got[:min(3, len(got))], want[:min(3, len(want))])
	}
}

// TestClientNFSRestart kills the server while nfs-cat reads, and starts another one. nfs-cat goes on and reads the
// right bytes.
func TestClientNFSRestart(t *testing.T) {
	m := model{voxelType: 3, channels: 1, blockType: 2, blockLog: 5, cubeLog: 2}
	dir := t.TempDir()
	m.write(t, dir, 0, 0, 0)
	m.writeHeader(t, dir)
	time.Sleep(2100 * time.Millisecond) // the version of files of a whole mag is durable if the metadata are not new
	for _, name := range []string{"z0/y0/x0.raw", "/volume.raw"} {
		address := freeAddress(t)
		s := startNFS(t, "--listen", address, dir)
		cmd := exec.Command("nfs-cat", s.url(name))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		want := m.flat()
		got := make([]byte, len(want))
		const first = 1 << 20 // nfs-cat waits in its pipe after some more
		if _, err := io.ReadFull(out, got[:first]); err != nil {
			t.Fatalf("%s: %v, %v, %s", name, err, cmd.Wait(), &stderr)
		}
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait() // it was killed
		again := startNFS(t, "--listen", address, dir)
		if _, err := io.ReadFull(out, got[first:]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, or other bytes", name, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again.end(t)
	}
}

// TestClientNFSQEMU compares a volume with QEMU's driver of NFS. It takes no port, so the server is at the port of the
// portmapper, in a network of its own.
func TestClientNFSQEMU(t *testing.T) {
	m := model{voxelType: 2, channels: 1, blockType: 2, blockLog: 5, cubeLog: 2}
	dir := t.TempDir()
	mag := filepath.Join(dir, "color", "1")
	m.writeHeader(t, mag)
	m.write(t, mag, 0, 0, 0)
	flat := filepath.Join(t.TempDir(), "flat")
	if err := os.WriteFile(flat, m.flat(), 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `ip link set lo up
"$1" nfs --listen 127.0.0.1:111 "$2" >"$4" &
while [ ! -s "$4" ]; do kill -0 $! || exit 1; sleep 0.1; done
qemu-img compare -f raw -F raw nfs://127.0.0.1/color/1/z0/y0/x0.raw "$3"; code=$?
kill $!; wait $!
exit $code`
	out, err := exec.Command("unshare", "-rn", "sh", "-c", script, "sh", program, dir, flat,
		filepath.Join(t.TempDir(), "address")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Images are identical") {
		t.Errorf("%v: %s", err, out)
	}
}
