package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tissue "github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
)

// readme returns the lines of a section of README.md.
func readme(t *testing.T, heading string) []string {
	t.Helper()
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README.md has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Split(text, "\n")
}

// step is a command of a session and the lines after it.
type step struct{ command, output string }

// readmeSession returns the commands of a section in order.
func readmeSession(t *testing.T, heading string) []step {
	t.Helper()
	var steps []step
	for _, line := range readme(t, heading) {
		line, code := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			steps = append(steps, step{command: command})
		case code && len(steps) > 0:
			steps[len(steps)-1].output += line + "\n"
		}
	}
	return steps
}

// TestReadmeSession runs the session of README.md and compares the output of the commands. A line "…" stands
// for any lines.
func TestReadmeSession(t *testing.T) {
	skipOneByOne(t)
	requireFUSE(t)
	steps := readmeSession(t, "A session")
	if len(steps) < 8 {
		t.Fatalf("%d commands: %q", len(steps), steps)
	}
	dir := tempDir(t)
	// after a failure; otherwise the session has unmounted it
	t.Cleanup(func() { exec.Command(program, "umount", "--lazy", filepath.Join(dir, "mnt")).Run() })
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	for _, s := range steps {
		script := s.command
		switch {
		case script == "python3":
			t.Run("python3", func(t *testing.T) { runPython(t, dir, s.output) })
			continue
		case strings.HasPrefix(script, "xdg-open "):
			script = "test -f " + strings.TrimPrefix(script, "xdg-open ")
		case strings.HasPrefix(script, "ls "):
			script = "ls -C -T 0 -w 80 " + strings.TrimPrefix(script, "ls ")
		}
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		r := runCommand(t, cmd)
		if want, rest, any := strings.Cut(s.output, "…\n"); r.code != 0 || rest != "" ||
			!strings.HasPrefix(r.stdout, want) || !any && r.stdout != want {
			t.Fatalf("%s: exit code %d, stderr %q, printed\n%s\nREADME.md has\n%s", s.command, r.code, r.stderr,
				r.stdout, s.output)
		}
	}
}

// runPython runs the Python part of the session as a doctest, if numpy is installed. A doctest cannot exit.
func runPython(t *testing.T, dir, text string) {
	t.Helper()
	text, exits := strings.CutSuffix(text, ">>> exit()\n")
	if !exits {
		t.Error("the session does not leave Python")
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import numpy").Run() != nil {
			continue
		}
		cmd := exec.Command(python, "-m", "doctest", writeFile(t, filepath.Join(dir, "session.txt"), []byte(text)))
		cmd.Dir = dir
		if r := runCommand(t, cmd); r.code != 0 {
			t.Errorf("python3: %s", r.stdout)
		}
		return
	}
	t.Skip("needs python3 with numpy (apt install python3-numpy)")
}

// TestReadmeNames looks up each name of README.md's table "What is where" in a mount of the sample.
func TestReadmeNames(t *testing.T) {
	skipOneByOne(t)
	parallelHeavy(t)
	requireFUSE(t)
	source := filepath.Join(tempDir(t), "cortex")
	o := tissue.Defaults()
	o.Mags = []int{1}                                                 // the names are those of one mag
	o.Box.Max, o.Unrecorded = volume.Vec{192, 192, 126}, volume.Box{} // all cubes that are named
	if err := tissue.Write(t.Context(), source, o); err != nil {
		t.Fatal(err)
	}
	dir := mount(t, source)
	inMag := strings.NewReplacer("{X}", "2", "{Y}", "2", "{Z}", "1", "{x}", "1", "{y}", "1", "{z}", "0",
		"X0-X1_Y0-Y1_Z0-Z1", "100-110_70-75_34-36", "z0000000", "z0000034")
	found := 0
	for _, line := range readme(t, "What is where") {
		name, isRow := strings.CutPrefix(line, "| `")
		name, _, _ = strings.Cut(name, "`")
		if !isRow || strings.HasPrefix(name, "chunks/") { // only Precomputed sources have chunks
			continue
		}
		first, suffixes, _ := strings.Cut(strings.TrimSuffix(name, " …"), " ")
		all := []string{first}
		for _, suffix := range strings.Fields(suffixes) {
			all = append(all, strings.TrimSuffix(first, filepath.Ext(first))+suffix)
		}
		for _, name := range all {
			path := strings.NewReplacer("LAYER", "color", "MAG", "1").Replace(name)
			if path == name && name != "datasource-properties.json" {
				path = filepath.Join("color/1", inMag.Replace(name))
			}
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			found++
		}
	}
	if found < 12 {
		t.Errorf("found %d names, want at least 12", found)
	}
}
