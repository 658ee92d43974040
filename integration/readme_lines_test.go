package integration

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tissue "github.com/wkwfs/wkwfs/internal/jobs/sample"
)

// readmeCommands are the commands in README.md outside of its section "A session", each with what runs it: a test, a
// target of make, or .ci/run. A command without arguments, such as wkwfs cp, stands for the command in general.
var readmeCommands = map[string]string{
	"apt install fuse3":  ".ci/run",
	"cp --sparse=always": "TestReadmeLines",
	"export PATH":        "TestReadmeBuild",
	"getfattr -d":        "TestReadmeLines",
	"git clone https://github.com/wkwfs/wkwfs && cd wkwfs": "TestReadmeBuild",
	"make":                               "TestReadmeBuild",
	"make deb":                           "make test-packages",
	"make demo":                          "TestDemo",
	"make rpm":                           "make test-packages",
	"make test-browser":                  "make test-browser",
	"make test-clients":                  "make test-clients",
	"make viewer build":                  "make test-browser",
	"sudo make install":                  "TestReadmeBuild",
	"tar -S":                             "TestReadmeLines",
	"wkwfs cp":                           "TestCopyReferenceData",
	"wkwfs import":                       "TestReadmeSession",
	"wkwfs info":                         "TestReadmeSession",
	"wkwfs mount gs://bucket/cortex mnt": "TestClientReadmeMounts",
	"wkwfs mount https://data.example.org/cortex mnt": "TestClientReadmeMounts",
	"wkwfs mount s3://bucket/cortex mnt":              "TestClientReadmeMounts",
	"wkwfs nfs":                                       "TestNFS",
	"wkwfs version":                                   "TestReadmeBuild",
	"wkwfs view":                                      "TestView",
	"wkwfs view cortex":                               "TestView",
}

// TestReadmeCommands checks that each command in README.md is one that readmeCommands knows, and that what runs it
// exists. Commands of programs that README.md says no test runs are not among them.
func TestReadmeCommands(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	session := strings.Index(text, "\n## A session\n")
	text = text[:session] + text[session+strings.Index(text[session:], "\n## Four words\n"):]
	isCommand := regexp.MustCompile(`^(apt|cp|tar|getfattr|git|make|sudo|wkwfs|export)($| )`)
	found := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`|(?m:^    (.*)$)").FindAllStringSubmatch(text, -1) {
		command, _, _ := strings.Cut(m[1]+m[2], " # ")
		command = strings.TrimSpace(command)
		if strings.HasPrefix(command, "export PATH=") {
			command = "export PATH"
		}
		if isCommand.MatchString(command) {
			found[command] = true
			if readmeCommands[command] == "" {
				t.Errorf("no test runs the command of README.md: %s", command)
			}
		}
	}
	makefiles := readAll(t, "../Makefile", "../packaging/packaging.mk")
	tests := declaredTests(t)
	for command, by := range readmeCommands {
		target, isTarget := strings.CutPrefix(by, "make ")
		switch {
		case !found[command]:
			t.Errorf("README.md has no command %q", command)
		case isTarget && !strings.Contains(makefiles, "\n"+target+":"),
			!isTarget && by != ".ci/run" && !slices.Contains(tests, by):
			t.Errorf("%s: %s does not exist", command, by)
		}
	}
}

// readAll returns the texts of files.
func readAll(t *testing.T, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// declaredTests returns the names of all tests of the commands and of this package, with any build tag.
func declaredTests(t *testing.T) (names []string) {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, dir := range []string{".", "../cmd/wkwfs"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			for _, m := range declared.FindAllStringSubmatch(readAll(t, filepath.Join(dir, name)), -1) {
				names = append(names, m[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// readmeBlock returns the lines of the code block of a language in README.md.
func readmeBlock(t *testing.T, language string) []string {
	t.Helper()
	_, text, _ := strings.Cut(readAll(t, "../README.md"), "\n```"+language+"\n")
	text, _, found := strings.Cut(text, "\n```\n")
	if !found {
		t.Fatalf("README.md has no block of %s", language)
	}
	return strings.Split(text, "\n")
}

// TestReadmeLines runs the lines of README.md that open a mag, in the directory of a mag of the sample: those of Python
// whose modules are installed, with a stand-in for napari, those of Octave, and those of shells. Only MATLAB has
// memmapfile.
func TestReadmeLines(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	requireFUSE(t)
	work := tempDir(t)
	mag := filepath.Join(mount(t, finestSample(t, tissue.Defaults())), "color/1")
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = mag
		r := runCommand(t, cmd)
		if r.code != 0 {
			t.Errorf("%s %q: exit code %d, stderr %q", name, args, r.code, r.stderr)
		}
		return r.stdout
	}
	t.Run("python", func(t *testing.T) { runReadmePython(t, work, run) })
	t.Run("octave", func(t *testing.T) {
		if _, err := exec.LookPath("octave-cli"); err != nil {
			t.Skip("needs octave-cli")
		}
		script := strings.Join(readmeBlock(t, "matlab")[:2], "\n") +
			"\nprintf('%d ', size(v)); printf('%d ', v(41:46, 61, 51));"
		const want = "210 180 92 128 136 136 136 96 96 "
		if got := run(t, "octave-cli", "--norc", "--quiet", "--eval", script); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("shell", func(t *testing.T) {
		run(t, "cp", "--sparse=always", "volume.raw", work)
		run(t, "tar", "-S", "-cf", filepath.Join(work, "volume.tar"), "volume.raw")
		run(t, "cmp", "volume.raw", filepath.Join(work, "volume.raw"))
		if _, err := exec.LookPath("getfattr"); err != nil {
			t.Skip("needs getfattr")
		}
		if got := run(t, "getfattr", "-d", "volume.raw"); !strings.Contains(got, "wkwfs.shape=") {
			t.Errorf("getfattr -d: %s", got)
		}
	})
}

// hasModule reports whether a module of Python is installed.
func hasModule(python, module string) bool {
	find := "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + module + "') is None)"
	return exec.Command(python, "-c", find).Run() == nil
}

// finestSample writes the finest mag of the sample, and returns its path, which ends in cortex.
func finestSample(t *testing.T, o tissue.Options) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), "cortex")
	o.Mags = []int{1}
	if err := tissue.Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runReadmePython runs the lines of Python. Each expression has voxels of the sample, or their number.
func runReadmePython(t *testing.T, work string, run func(t *testing.T, name string, args ...string) string) {
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(candidate, "-c", "import numpy").Run() == nil {
			python = candidate
		}
	}
	if python == "" {
		t.Skip("needs python3 with numpy (apt install python3-numpy)")
	}
	const napari = "def view_image(image, scale):\n    return image.shape, scale\n"
	writeFile(t, filepath.Join(work, "napari.py"), []byte(napari))
	script := "import sys, json, numpy\nsys.path.insert(0, " + "'" + work + "'" + ")\n"
	wants := map[string]string{ // what each expression prints
		"dask.array.from_array": "(210, 180, 92)", "dask.array.from_zarr": "(126, 250, 310)",
		"zarr.open": "(19, 49)", "xarray.open_zarr": "uint8",
		"napari.view_image": "((92, 180, 210), [25, 11.24, 11.24])",
	}
	var want string
	for _, line := range readmeBlock(t, "python") {
		line, _, _ = strings.Cut(line, "    #")
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, "(")
		module, _, _ := strings.Cut(name, ".")
		if strings.HasPrefix(line, "volume = ") {
			script += line + "\n"
			continue
		}
		module = strings.Replace(module, "dask", "dask.array", 1)
		if module != "napari" && !hasModule(python, module) {
			t.Logf("left out, %s is not installed: %s", module, line)
			continue
		}
		show := map[string]string{"napari.view_image": "x", "xarray.open_zarr": "x.dtype"}[name]
		if show == "" {
			show = "x.shape"
		}
		script += "import " + module + "\nx = " + line + "\nprint(" + show + ")\n"
		want += wants[name] + "\n"
	}
	if got := run(t, python, "-c", script); got != want || !strings.Contains(want, "((") {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}
