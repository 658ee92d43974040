//go:build clients

package integration

import (
	"bytes"
	"crypto/md5"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// The tests of object stores start real servers: versitygw for S3, fake-gcs-server for GCS, and nginx with TLS. A proxy
// stands in front of each. integration/cloud/install.sh installs the servers.

// cloudAll runs the long form of these tests.
var cloudAll = flag.Bool("cloud.all", false,
	"test all of the reference data on all object stores through mounts, and more random cases")

// cloudNames are the servers.
var cloudNames = []string{"s3", "gs", "https"}

// command returns a command of the program for sources on the server.
func (c *cloud) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = c.env
	return cmd
}

// run runs the program and returns its output, which must be a success.
func (c *cloud) run(t testing.TB, args ...string) string {
	t.Helper()
	r := runCommand(t, c.command(args...))
	if r.code != 0 {
		t.Fatalf("wkwfs %q: exit code %d, stderr %q", args, r.code, r.stderr)
	}
	return r.stdout
}

// mount mounts a source in the background, as mountServer does.
func (c *cloud) mount(t testing.TB, source string, args ...string) *server {
	t.Helper()
	requireFUSE(t)
	dir := tempDir(t)
	c.run(t, slices.Concat([]string{"mount"}, args, []string{source, dir})...)
	s := &server{dir: dir, pid: serverOf(t, dir), ended: make(chan *os.ProcessState, 1)}
	s.await(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// cloudData returns a directory with a copy of the reference data that has what S3 servers keep in attributes of files.
// It exists until all tests have ended.
var cloudData = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "data")
	if err != nil {
		panic(err)
	}
	for _, folder := range append(refdata.WKW(), "zarr", "precomputed") {
		from, ok := refdata.Path(folder)
		if !ok {
			continue
		}
		if err := copyTree(from, filepath.Join(dir, folder)); err != nil {
			panic(err)
		}
	}
	return dir
})

// copyObjects copies the files of a directory, as objects.
func copyObjects(t testing.TB, from, to string) {
	t.Helper()
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
}

// copyTree copies the files of a directory. Object stores have no links, so it follows links to files and leaves out
// others.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(name, 0o755)
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return putObject(name, b)
	})
}

// putObject writes a file as versitygw does for a PUT: at once, with its ETag as an extended attribute.
func putObject(name string, b []byte) error {
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".new")
	if err := os.WriteFile(temporary, b, 0o644); err != nil {
		return err
	}
	if err := unix.Setxattr(temporary, "user.etag", fmt.Appendf(nil, `"%x"`, md5.Sum(b)), 0); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}

// cloudVolume is a file of the reference data with a known hash.
type cloudVolume struct{ source, file, sha256 string }

// wkwVolumes returns the volumes of all WKW datasets.
func wkwVolumes(t *testing.T) []cloudVolume {
	t.Helper()
	var volumes []cloudVolume
	for _, folder := range refdata.WKW() {
		for _, r := range references(t, refdata.Dir(t, folder)) {
			if r.Volume.Bytes > 64<<20 && !*cloudAll {
				continue
			}
			volumes = append(volumes, cloudVolume{strings.TrimSuffix(folder+"/"+r.Dataset, "/"),
				filepath.Join(r.Layer, r.Mag, "volume.raw"), r.Volume.SHA256})
		}
	}
	return volumes
}

// precomputedVolumes returns the scales of all Precomputed volumes that have a known hash and need no link.
func precomputedVolumes(t *testing.T) []cloudVolume {
	t.Helper()
	var manifest struct {
		Volumes []struct {
			Volume   string
			Optional bool
			Scales   []precomputedScale
		}
	}
	readJSON(t, filepath.Join(refdata.Dir(t, "precomputed"), "manifest.json"), &manifest)
	var volumes []cloudVolume
	for _, v := range manifest.Volumes {
		for _, s := range v.Scales {
			if s.SHA256 != "" && s.Expected == "" && !v.Optional {
				volumes = append(volumes, cloudVolume{"precomputed/" + v.Volume, filepath.Join(s.dir(), "volume.raw"),
					s.SHA256})
			}
		}
	}
	return volumes
}

// arrayVolumes returns the arrays that datasets of Zarr and N5 have as layers.
func arrayVolumes(t *testing.T) []cloudVolume {
	t.Helper()
	_, manifest := refdata.Arrays(t)
	var volumes []cloudVolume
	for _, a := range manifest.Arrays {
		isDataset := slices.Contains(manifest.Datasets, struct{ Dataset string }{a.Dataset})
		if !isDataset || a.Expect != "ok" || a.Optional || a.Layer == "linked" { // object stores have no links
			continue
		}
		mag := a.Mag
		if a.Format == "precomputed" || filepath.Base(a.Path) == "1-1-1" {
			mag = filepath.Base(a.Path)
		}
		volumes = append(volumes, cloudVolume{"zarr/" + a.Dataset, filepath.Join(a.Layer, mag, "volume.raw"), a.SHA256})
	}
	return volumes
}

// TestClientCloudData reads the reference data of all formats from each server, through mounts and with wkwfs cp, and
// compares it with the hashes of the manifests. In the short form, Precomputed volumes are mounted from S3 only, and
// copied from the others.
func TestClientCloudData(t *testing.T) {
	bySource := map[string][]cloudVolume{}
	for _, v := range slices.Concat(wkwVolumes(t), precomputedVolumes(t), arrayVolumes(t)) {
		bySource[v.source] = append(bySource[v.source], v)
	}
	if len(bySource) < 80 {
		t.Errorf("%d sources, want at least 80", len(bySource))
	}
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, name, cloudData())
			for source, volumes := range bySource {
				t.Run(source, func(t *testing.T) { c.compare(t, source, volumes) })
			}
			for _, r := range c.proxy.Requests() {
				if r.Status >= 500 || r.Signed != (name == "s3") {
					t.Fatalf("%+v", r)
				}
			}
		})
	}
}

// compare compares the volumes of a source with their hashes.
func (c *cloud) compare(t *testing.T, source string, volumes []cloudVolume) {
	t.Helper()
	args := []string{}
	// their mags are outside of the source
	if strings.HasSuffix(source, "wk_paths") || strings.HasSuffix(source, "raw_scales") {
		args = append(args, "--follow-links")
	}
	if strings.HasPrefix(source, "precomputed/") && c.name != "s3" && !*cloudAll {
		copied := filepath.Join(t.TempDir(), "copy")
		for _, v := range volumes {
			c.run(t, slices.Concat([]string{"cp", "--quiet"}, args, []string{c.url + "/" + source, v.file, copied})...)
			if sum, n := hash(t, copied); sum != v.sha256 {
				t.Errorf("copy of %s: %d bytes with hash %s, want %s", v.file, n, sum, v.sha256)
			}
			os.Remove(copied)
		}
		return
	}
	s := c.mount(t, c.url+"/"+source, args...)
	for _, v := range volumes {
		if sum, n := hash(t, filepath.Join(s.dir, v.file)); sum != v.sha256 {
			t.Errorf("%s: %d bytes with hash %s, want %s", v.file, n, sum, v.sha256)
		}
	}
	s.stop(t)
}

// TestClientCloudArrays mounts a local dataset whose layers are the arrays of other programs on each server, by URLs in
// its metadata.
func TestClientCloudArrays(t *testing.T) {
	_, manifest := refdata.Arrays(t)
	arrays := slices.DeleteFunc(manifest.Arrays, func(a refdata.Array) bool {
		return arrayFormats[a.Format] == "" || a.Expect != "ok" || a.Optional
	})
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, name, cloudData())
			source := datasetOf(t, "/URL", arrays)
			properties := filepath.Join(source, "datasource-properties.json")
			b, err := os.ReadFile(properties)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, properties, bytes.ReplaceAll(b, []byte(`"/URL/`), []byte(`"`+c.url+`/zarr/`)))
			s := c.mount(t, source, "--follow-links")
			for _, a := range arrays {
				volume := filepath.Join(s.dir, layerName(a), "1", "volume.raw")
				if sum, n := hash(t, volume); sum != a.SHA256 {
					t.Errorf("%s: %d bytes with hash %s, want %s", volume, n, sum, a.SHA256)
				}
			}
		})
	}
}

// TestClientCloudTree compares the whole tree of a dataset of each format on each server with the tree of its
// directory.
func TestClientCloudTree(t *testing.T) {
	for _, name := range cloudNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, name, cloudData())
			for _, source := range []string{"wkw/sparse", "zarr/wk_mixed", "zarr/ome05_czyx", "zarr/n5_multiscale",
				"precomputed/sh_one"} {
				here, there := tempDir(t), tempDir(t)
				mustRun(t, "cp", "--quiet", filepath.Join(c.dir, source), ".", filepath.Join(here, "copy"))
				c.run(t, "cp", "--quiet", c.url+"/"+source, ".", filepath.Join(there, "copy"))
				if out, err := exec.Command("diff", "-r", here, there).CombinedOutput(); err != nil ||
					len(bytes.TrimSpace(out)) > 0 {
					t.Errorf("%s: %v\n%.2000s", source, err, out)
				}
			}
		})
	}
}
