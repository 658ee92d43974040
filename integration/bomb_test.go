package integration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
)

// Limits of a program that reads metadata which claims much. They are generous: without limits, some of these sources
// take gigabytes and hours.
const (
	bombCache  = 64 << 20
	bombMemory = bombCache + 192<<20
	bombTime   = 3 * time.Minute
)

// bomb is a source whose metadata claims much. It is a dataset with a layer color of one cube, or a Precomputed volume.
type bomb struct {
	name    string
	write   func(t *testing.T, dir string)
	warning string   // that info prints; empty: none
	lists   []string // directories of the mount
	opens   []string // files that no listing has
	check   int      // exit code of wkwfs check
	copy    string   // path that cp copies; empty: everything
}

// metadataBomb writes the metadata of a dataset: n parts, with commas between them.
func metadataBomb(start string, n int, part func(i int) string, end string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		m := model{voxelType: 1, channels: 1, blockType: 2, blockLog: 2, cubeLog: 1}
		mag := filepath.Join(dir, "color", "1")
		m.writeHeader(t, mag)
		m.write(t, mag, 0, 0, 0)
		var b bytes.Buffer
		b.WriteString(start)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(part(i))
		}
		b.WriteString(end)
		writeFile(t, filepath.Join(dir, "datasource-properties.json"), b.Bytes())
	}
}

const layerStart = `{"scale":[1,1,1],"dataLayers":[{"name":"color","mags":[`

// bombs returns the sources. In the long form, layers, mags and scales are as many as the limits allow,
// and metadata is as long.
func bombs() []bomb {
	layers, mags := amount(2000, 10_000), amount(250, 1000)
	last := fmt.Sprintf("l%d", layers-1)
	return []bomb{
		{
			name: "a deep box",
			write: metadataBomb(
				`{"scale":[1,1,1],"dataLayers":[{"name":"color","boundingBox":{"topLeft":[0,0,0],"width":8,"height":8,"depth":1099511627776}`,
				0, nil, `}]}`),
			lists: []string{".", "color", "color/1", "color/1/slices", "color/precomputed", "color/precomputed/1"},
			opens: []string{"color/1/slices/z0000007.tif", "color/1/slices/z1099511627775.tif"},
		},
		{
			name: "60 MB of mags",
			write: metadataBomb(layerStart, 3_000_000,
				func(i int) string { return fmt.Sprintf(`{"mag":[%d,1,1]}`, i+1) }, `]}]}`),
			warning: "datasource-properties.json: expected at most 16777216 bytes, found ",
			lists:   []string{".", "color", "color/1", "color/1/slices"},
			check:   1,
		},
		{
			name:    "too many mags",
			write:   metadataBomb(layerStart, amount(200_000, 1_600_000), func(int) string { return `{"mag":2}` }, `]}]}`),
			warning: `datasource-properties.json: dataLayers: layer "color": mags: expected at most 1000 mags, found more`,
			lists:   []string{".", "color", "color/1"},
			check:   1,
		},
		{
			name:    "too many layers",
			write:   metadataBomb(`{"dataLayers":[`, amount(100_000, 800_000), func(int) string { return `{"name":"a"}` }, `]}`),
			warning: "datasource-properties.json: dataLayers: expected at most 10000 layers, found more",
			lists:   []string{".", "color", "color/1"},
			check:   1,
		},
		{
			name: "many mags of the same cubes",
			write: metadataBomb(layerStart, mags,
				func(i int) string { return fmt.Sprintf(`{"mag":[%d,1,1],"path":"./color/1"}`, i+1) }, `]}]}`),
			lists: []string{".", "color", "color/1", fmt.Sprintf("color/%d-1-1", mags), "color/precomputed"},
			opens: []string{"color/177-1-1/volume.raw"},
		},
		{
			name: "many layers of the same cubes",
			write: metadataBomb(`{"dataLayers":[`, layers, func(i int) string {
				return fmt.Sprintf(`{"name":"l%d","mags":[{"mag":1,"path":"./color/1"}]}`, i)
			}, `]}`),
			lists: []string{".", "l0", last, last + "/1"},
			opens: []string{"l1500/1/volume.raw"},
			copy:  "l1500",
		},
		{
			name: "a Precomputed volume with a deep box and many scales",
			write: func(t *testing.T, dir string) {
				var scales []string
				for i := range mags {
					scales = append(scales,
						fmt.Sprintf(
							`{"key":"s%d","size":[1,1,1099511627776],"chunk_sizes":[[1,1,1]],"resolution":[%d,1,1],"encoding":"raw"}`, i, i+1))
				}
				info := `{"data_type":"uint8","num_channels":1,"scales":[` + strings.Join(scales, ",") + `]}`
				writeFile(t, filepath.Join(dir, "info"), []byte(info))
			},
			lists: []string{".", "s0", fmt.Sprintf("s%d", mags-1), "s0/slices", "s0/chunks", "precomputed"},
			opens: []string{"s0/slices/z1099511627775.tif"},
		},
	}
}

// runBounded runs the program within the limits of memory and time.
func runBounded(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	start := time.Now()
	r := runCommand(t, cmd)
	kib := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if took := time.Since(start); kib<<10 > bombMemory || took > bombTime {
		t.Errorf("wkwfs %q: %d MiB, %v", args, kib>>10, took)
	}
	return r
}

// TestMetadataBombs: metadata that claims much takes little memory and time, in each command. What the metadata says of
// too much is an error that names the limit and the file; all else is there.
func TestMetadataBombs(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector's own memory would be measured")
	}
	for _, b := range bombs() {
		t.Run(b.name, func(t *testing.T) {
			source := tempDir(t)
			b.write(t, source)
			bombInCommands(t, b, source)
			bombInMount(t, b, source)
			bombInServer(t, b, source)
		})
	}
}

func bombInCommands(t *testing.T, b bomb, source string) {
	t.Helper()
	r := runBounded(t, "info", source)
	if r.code != 0 || !strings.Contains(r.stderr, b.warning) || b.warning == "" && r.stderr != "" {
		t.Errorf("info: %d, %.300s, want %q", r.code, r.stderr, b.warning)
	}
	if r := runBounded(t, "check", source); r.code != b.check {
		t.Errorf("check: %d\n%.300s\n%.300s", r.code, r.stdout, r.stderr)
	}
	if r := runBounded(t, "cp", "--quiet", "--cache-size", strconv.Itoa(bombCache), source, cmp.Or(b.copy, "."),
		filepath.Join(tempDir(t), "copy")); r.code != 0 {
		t.Errorf("cp: %d, %.300s", r.code, r.stderr)
	}
}

func bombInMount(t *testing.T, b bomb, source string) {
	t.Helper()
	start := time.Now()
	s := mountServer(t, source, "--cache-size", strconv.Itoa(bombCache))
	for _, name := range b.lists {
		entries, err := os.ReadDir(filepath.Join(s.dir, name))
		if err != nil {
			t.Error(err)
		}
		if len(entries) > 20_000 {
			t.Errorf("%s: %d entries", name, len(entries))
		}
	}
	for _, name := range b.opens {
		f, err := os.Open(filepath.Join(s.dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := f.ReadAt(make([]byte, 100), 0); err != nil && !strings.HasSuffix(err.Error(), "EOF") {
			t.Error(err)
		}
		f.Close()
	}
	if peak, took := peakMemory(t, s.pid), time.Since(start); peak > bombMemory || took > bombTime {
		t.Errorf("the mount took %d MiB, %v", peak>>20, took)
	}
}

func bombInServer(t *testing.T, b bomb, source string) {
	t.Helper()
	start := time.Now()
	s := startWeb(t, nil, "--listen", "127.0.0.1:0", "--cache-size", strconv.Itoa(bombCache), source)
	for _, name := range b.lists {
		reply, body := s.get(t, strings.TrimPrefix(name+"/", "./"))
		var entries []struct{ Name string }
		if err := json.Unmarshal(body, &entries); reply.StatusCode != 200 || err != nil {
			t.Errorf("%s: %d, %v", name, reply.StatusCode, err)
		}
	}
	if peak, took := peakMemory(t, s.cmd.Process.Pid), time.Since(start); peak > bombMemory || took > bombTime {
		t.Errorf("the server took %d MiB, %v", peak>>20, took)
	}
	s.end(t, syscall.SIGTERM)
}

// TestListingOfManyCubes lists a directory of 50,000 cubes, in the long form 200,000, through the kernel and over HTTP.
// The servers take no more memory than for a small one.
func TestListingOfManyCubes(t *testing.T) {
	if os.Getenv(raceVariable) == "1" {
		t.Skip("the race detector's own memory would be measured")
	}
	n := amount(50_000, 200_000)
	m := model{voxelType: 1, channels: 1, blockType: 1, blockLog: 0, cubeLog: 0}
	mag := voxeltest.TempDir(t) // links are cheap in memory
	m.writeHeader(t, mag)
	m.write(t, mag, 0, 0, 0)
	for i := 1; i < n; i++ {
		if err := os.Symlink("x0.wkw", filepath.Join(mag, fmt.Sprintf("z0/y0/x%d.wkw", i))); err != nil {
			t.Fatal(err)
		}
	}
	if r := runBounded(t, "info", "--json", mag); r.code != 0 ||
		!strings.Contains(r.stdout, fmt.Sprintf(`"cubes": %d`, n)) {
		t.Errorf("info: %d\n%.1000s\n%.300s", r.code, r.stdout, r.stderr)
	}
	s := mountServer(t, mag, "--cache-size", strconv.Itoa(bombCache))
	dir, err := os.Open(filepath.Join(s.dir, "z0/y0"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for range 2 { // from the start, and again after a rewind
		names, err := dir.Readdirnames(-1)
		seen := map[string]bool{}
		for _, name := range names {
			seen[name] = true
		}
		if err != nil || len(names) != 2*n || len(seen) != 2*n || !seen["x0.raw"] ||
			!seen[fmt.Sprintf("x%d.blocks", n-1)] {
			t.Errorf("%d names, %d of them different, %v", len(names), len(seen), err)
		}
		if _, err := dir.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if peak := peakMemory(t, s.pid); peak > bombMemory {
		t.Errorf("the mount took %d MiB", peak>>20)
	}
	web := startWeb(t, nil, "--listen", "127.0.0.1:0", "--cache-size", strconv.Itoa(bombCache), mag)
	reply, body := web.get(t, "z0/y0/")
	var entries []struct{ Name string }
	if err := json.Unmarshal(body, &entries); err != nil || len(entries) != 2*n || reply.StatusCode != 200 {
		t.Errorf("%d entries, %d, %v", len(entries), reply.StatusCode, err)
	}
	if reply, body := web.get(t, "z0/y0/", "Accept", "text/html"); reply.StatusCode != 200 ||
		!bytes.Contains(body, []byte("There are more entries.")) {
		t.Errorf("page: status %d, %d bytes", reply.StatusCode, len(body))
	}
	if peak := peakMemory(t, web.cmd.Process.Pid); peak > bombMemory {
		t.Errorf("the server took %d MiB", peak>>20)
	}
	web.end(t, syscall.SIGTERM)
}
