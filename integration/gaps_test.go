package integration

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// mountWarned mounts a source in the background and unmounts it. It returns what the command printed on the terminal,
// and the log.
func mountWarned(t *testing.T, source string, args ...string) (stderr, log string) {
	t.Helper()
	requireFUSE(t)
	dir, file := tempDir(t), filepath.Join(tempDir(t), "log")
	r := wkwfs(t, slices.Concat([]string{"mount", "--log-file", file}, args, []string{source, dir})...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "mounted on "+dir+", log: ") || strings.Count(r.stdout, "\n") != 1 {
		t.Fatalf("%s: exit code %d, %s%s", source, r.code, r.stdout, r.stderr)
	}
	if r := wkwfs(t, "umount", dir); r.code != 0 {
		t.Fatal(r.stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return r.stderr, string(b)
}

// tellsOf checks that check, info and mount of a source tell of a gap with a text, or that none of them tells of any if
// the text is empty. fault says that check fails because of it.
func tellsOf(t *testing.T, source, text string, fault bool) {
	t.Helper()
	code := 0
	if fault {
		code = 1
	}
	check, info := wkwfs(t, "check", source), wkwfs(t, "info", source)
	if check.code != code || !strings.Contains(check.stdout, text) {
		t.Errorf("check %s: exit code %d, %s%s\nexpected %q", source, check.code, check.stdout, check.stderr, text)
	}
	if info.code != 0 || strings.Contains(info.stdout, "\nwarnings\n") != (text != "") ||
		!strings.Contains(info.stdout, text) {
		t.Errorf("info %s: exit code %d, %s%s\nexpected %q", source, info.code, info.stdout, info.stderr, text)
	}
	printed, log := mountWarned(t, source)
	const warning = "voxels may be missing"
	if strings.Contains(printed, "wkwfs: warning: "+warning) != (text != "") || !strings.Contains(printed, text) {
		t.Errorf("mount %s prints %q, expected %q", source, printed, text)
	}
	if strings.Contains(log, warning) != (text != "") || !strings.Contains(log, text) {
		t.Errorf("mount %s logs\n%s\nexpected %q", source, log, text)
	}
}

// TestUnfinishedImport: check fails for a layer whose import is not finished, in all formats that import writes,
// whether it had no room or was done in parts. info and mount tell of it, also for a single layer or mag. After the end
// of the import, nothing does.
func TestUnfinishedImport(t *testing.T) {
	dir := tempDir(t)
	input := filepath.Join(dir, "volume.raw") // it does not compress
	b := make([]byte, 64*64*64*4)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(input, b, 0o666); err != nil {
		t.Fatal(err)
	}
	const text = "an import of this layer is not finished"
	for _, format := range []string{"wkw", "zarr3"} {
		args := func(dataset string, more ...string) []string {
			return importArgs(input, dataset, "64,64,64",
				append([]string{"--cube", "32", "--mags", "1", "--category", "color", "--format", format}, more...)...)
		}
		for way, begin := range map[string]func(dataset string) (end []string){
			"part": func(dataset string) []string {
				mustRun(t, args(dataset, "--part", "1/1")...)
				return args(dataset, "--finish")
			},
			"no room": func(dataset string) []string {
				command := append([]string{"-c", `ulimit -f 40; exec "$0" "$@"`, program}, args(dataset)...)
				if r := runCommand(t, exec.Command("bash", command...)); r.code != 1 ||
					!strings.Contains(r.stderr, "file too large") {
					t.Fatalf("an import without room for a cube: exit code %d, %s", r.code, r.stderr)
				}
				return args(dataset)
			},
		} {
			t.Run(format+", "+way, func(t *testing.T) {
				dataset := filepath.Join(dir, fmt.Sprint(format, way))
				end := begin(dataset)
				sources := []string{filepath.Join(dataset, "l"), filepath.Join(dataset, "l/1")}
				if format == "wkw" { // the metadata of the dataset, which it lacks, have to say that a layer is Zarr
					sources = append(sources, dataset)
				}
				for _, source := range sources {
					tellsOf(t, source, text, true)
				}
				mustRun(t, end...)
				for _, source := range []string{dataset, filepath.Join(dataset, "l"), filepath.Join(dataset, "l/1")} {
					tellsOf(t, source, "", false)
				}
			})
		}
	}
}

// TestUnfinishedImportBeside: an unfinished layer of Zarr in a dataset with other layers is not shown, and check fails
// because of it.
func TestUnfinishedImportBeside(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	dataset := filepath.Join(tempDir(t), "cortex")
	writeSample(t, dataset)
	input := rawFile(t, tempDir(t), 32*32*32*4)
	mustRun(t, importArgs(input, dataset, "32,32,32", "--format", "zarr3", "--category", "color", "--voxel-size",
		"11.24,11.24,25", "--part", "1/2")...)
	tellsOf(t, dataset, "an import of this layer is not finished", true)
}

// TestSilentZeros: check, info and mount tell of files that the metadata name in another way, and of mags without a
// file. If a mag has no other file, check fails.
func TestSilentZeros(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	dir := tempDir(t)
	wkw, precomputed, zarr := filepath.Join(dir, "cortex"), filepath.Join(dir, "precomputed"),
		filepath.Join(dir, "zarr")
	writeSample(t, wkw)
	mustRun(t, "cp", "-q", wkw, "color/precomputed", precomputed)
	mustRun(t, "cp", "-q", wkw, "color/ome.zarr", zarr)
	for _, source := range []string{wkw, precomputed, zarr} {
		tellsOf(t, source, "", false)
	}

	cube := filepath.Join(wkw, "color/1/z0/y1/x1.wkw")
	if err := os.Rename(cube, strings.Replace(cube, "x1", "x01", 1)); err != nil {
		t.Fatal(err)
	}
	tellsOf(t, wkw, "expected names like color/1/z0/y0/x0.wkw", false)
	if err := os.RemoveAll(filepath.Join(wkw, "segmentation/4/z0")); err != nil {
		t.Fatal(err)
	}
	tellsOf(t, wkw, "it has no file with voxels", false)

	s := startServer(t, nil, "view", wkw)
	endCommand(t, s.cmd)
	if n := strings.Count(s.stderr.String(), "wkwfs: warning: voxels may be missing (in "); n != 2 {
		t.Errorf("view prints %d warnings: %s", n, s.stderr.String())
	}

	chunks, err := filepath.Glob(filepath.Join(precomputed, "2/*"))
	if err != nil || len(chunks) < 2 {
		t.Fatal(chunks, err)
	}
	for _, chunk := range chunks {
		if err := os.Rename(chunk, chunk+".lz4"); err != nil {
			t.Fatal(err)
		}
	}
	tellsOf(t, precomputed, fmt.Sprintf(".lz4, and %d other files like it: not read", len(chunks)-1), true)

	metadata := filepath.Join(zarr, "1/.zarray")
	b, err := os.ReadFile(metadata)
	if err == nil {
		err = os.WriteFile(metadata, bytes.Replace(b, []byte(`"/"`), []byte(`"."`), 1), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	tellsOf(t, zarr, "expected names like 1/0.0.0", true)
}

// TestUnknownCompression: a chunk of Precomputed in a compression that is not known is an error of its voxels, and not
// zeros.
func TestUnknownCompression(t *testing.T) {
	skipOneByOne(t)
	dir := tempDir(t)
	precomputed := filepath.Join(dir, "precomputed")
	writeSample(t, filepath.Join(dir, "cortex"))
	mustRun(t, "cp", "-q", filepath.Join(dir, "cortex"), "color/precomputed", precomputed)
	chunk := filepath.Join(precomputed, "1/128-160_128-160_32-64")
	if err := os.Rename(chunk, chunk+".lz4"); err != nil {
		t.Fatal(err)
	}
	mounted := mount(t, precomputed)
	if _, err := os.ReadFile(filepath.Join(mounted, "1/box/128-160_128-160_32-64.raw")); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	if r := wkwfs(t, "check", precomputed); r.code != 1 ||
		!strings.Contains(r.stdout, "32-64.*: a file has this name with a suffix that is not known") {
		t.Errorf("check: exit code %d, %s", r.code, r.stdout)
	}
}

// TestCutMetadata: if datasource-properties.json was cut off, the dataset is shown without it. Commands warn on the
// terminal, in a line for people.
func TestCutMetadata(t *testing.T) {
	source := dataset(t)
	if err := os.WriteFile(filepath.Join(source, "datasource-properties.json"), []byte(`{"id": {"name": "cort`),
		0o666); err != nil {
		t.Fatal(err)
	}
	const want = "wkwfs: warning: dataset shown without its metadata: datasource-properties.json: unexpected end of JSON input\n"
	if r := wkwfs(t, "info", source); r.code != 0 || !strings.HasPrefix(r.stderr, want) {
		t.Errorf("info: exit code %d, %q", r.code, r.stderr)
	}
	if r := wkwfs(t, "cp", "-q", source, "color/1/volume.raw", filepath.Join(tempDir(t), "copy")); r.code != 0 ||
		!strings.HasPrefix(r.stderr, want) {
		t.Errorf("cp: exit code %d, %q", r.code, r.stderr)
	}
	if r := wkwfs(t, "check", source); r.code != 1 ||
		!strings.Contains(r.stdout, "datasource-properties.json: unexpected end of JSON input") {
		t.Errorf("check: exit code %d, %q", r.code, r.stdout)
	}
	if printed, log := mountWarned(t, source); printed != want ||
		!strings.Contains(log, "dataset shown without its metadata") {
		t.Errorf("mount prints %q and logs %q", printed, log)
	}
}
