package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standIns are programs that README.md calls and that a test must not run: git clones this tree, as it is, and sudo
// installs below a directory.
var standIns = map[string]string{
	"git": `#!/bin/sh
[ "$1" = clone ] || exit 1
mkdir wkwfs && tar -C "$REPOSITORY" --exclude=./.git --exclude=./bin --exclude=./dist -c . | tar -C wkwfs -x
`,
	"sudo": `#!/bin/sh
exec "$@" DESTDIR="$INSTALLED"
`,
}

// TestReadmeBuild runs the commands that README.md has to build and install the program, in a copy of this tree.
func TestReadmeBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	parallelHeavy(t)
	var script strings.Builder
	for _, line := range readme(t, "Build it") {
		if command, isCode := strings.CutPrefix(line, "    "); isCode {
			script.WriteString(command + "\n")
		}
	}
	if !strings.Contains(script.String(), "\nmake ") {
		t.Fatalf("README.md does not build the program:\n%s", script.String())
	}
	script.WriteString("test \"$(command -v wkwfs)\" = \"$PWD/bin/wkwfs\"\nsudo make install\n")
	dir := tempDir(t)
	bin := filepath.Join(dir, "stand-ins")
	for name, text := range standIns {
		program := writeFile(t, filepath.Join(bin, name), []byte(text))
		if r := runCommand(t, exec.Command("chmod", "755", program)); r.code != 0 {
			t.Fatal(r.stderr)
		}
	}
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", script.String())
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "REPOSITORY="+repository,
		"INSTALLED="+filepath.Join(dir, "installed"))
	if r := runCommand(t, cmd); r.code != 0 || !strings.Contains(r.stdout, "wkwfs ") {
		t.Fatalf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	if r := runCommand(t, exec.Command(filepath.Join(dir, "installed/usr/local/bin/wkwfs"), "version")); r.code != 0 {
		t.Errorf("the installed program: exit code %d, %q", r.code, r.stderr)
	}
}
