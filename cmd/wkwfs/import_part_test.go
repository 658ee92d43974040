package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportParts imports as the tasks of a job array do, and finishes the import. The dataset is that of an import at
// once. Errors name what is missing, and what to type.
func TestImportParts(t *testing.T) {
	dir := t.TempDir()
	name, whole, out := filepath.Join(dir, "v.raw"), filepath.Join(dir, "whole/out"), filepath.Join(dir, "out")
	voxels := bytes.Repeat([]byte("wkwfs import "), 40*30*200/13+1)[:40*30*200]
	if err := os.WriteFile(name, voxels, 0o666); err != nil {
		t.Fatal(err)
	}
	try := func(wantCode int, want string, dataset string, flags ...string) {
		t.Helper()
		args := append([]string{"import", name, dataset, "--layer", "a", "--category", "color", "--dtype", "uint8",
			"--shape", "40,30,200",
			"--voxel-size", "4,4,8", "--cube", "32"}, flags...)
		var stderr strings.Builder
		if code := run(args, io.Discard, &stderr); code != wantCode || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s; want %d, %s", flags, code, stderr.String(), wantCode, want)
		}
	}
	try(0, "imported", whole)
	try(1, "hint: give --part I/N in place of --finish", out, "--finish")
	try(2, "--finish is not for --part", out, "--finish", "--part", "1/3")
	try(2, "--force is not for --part", out, "--force", "--part", "1/3")
	var stderr strings.Builder
	if code := run([]string{"import", name, out, "--layer", "a", "--update", "--part", "1/3"}, io.Discard,
		&stderr); code != 2 || !strings.Contains(stderr.String(), "--update is not for --part") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	t.Setenv("SLURM_ARRAY_TASK_MIN", "0")
	t.Setenv("SLURM_ARRAY_TASK_MAX", "40")
	t.Setenv("SLURM_ARRAY_TASK_STEP", "10")
	t.Setenv("SLURM_ARRAY_TASK_COUNT", "5")
	for id := range 4 {
		t.Setenv("SLURM_ARRAY_TASK_ID", fmt.Sprint(10*id))
		try(0, "imported", out, "--part", "auto")
	}
	try(1, "of 5 parts, 5 is missing\nhint: give --part 5/5 in place of --finish", out, "--finish")
	try(1, "not finished\nhint: all parts and --finish have the same settings and the same N", out, "--part", "1/4")
	try(0, "imported", out, "--part", "5/5")
	try(0, "", out, "--part", "5/5")
	try(0, "", out, "--finish", "--quiet")
	try(1, "hint: if it is this import, it was finished", out, "--part", "5/5")
	try(1, "hint: if it is this import, it was finished", out, "--finish")
	if output, err := exec.Command("diff", "-r", whole, out).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	many := filepath.Join(dir, "many")
	try(0, "nothing to do in this part: there are fewer cubes of mag 1 than parts", many, "--part", "90/90")
}
