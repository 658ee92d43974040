//go:build clients

package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// slurm is a cluster of four nodes on this machine.
type slurm struct{ env []string }

// startSlurm starts a cluster until the end of the test.
func startSlurm(t *testing.T) slurm {
	t.Helper()
	requireRoot(t)
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			skipUnlessRequired(t, err.Error())
		}
	}
	dir := tempDir(t)
	cmd := exec.Command("sh", "slurm/start.sh", dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the cluster: %v", err)
		}
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the cluster: %q, %v", line, err)
	}
	path := filepath.Dir(program) + ":" + os.Getenv("PATH")
	return slurm{append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "PATH="+path)}
}

// run runs a command of Slurm in a directory, and returns its output.
func (s slurm) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// wait waits until a job has ended.
func (s slurm) wait(t *testing.T, job string) {
	t.Helper()
	eventually(t, "job "+job+" has ended", func() bool { return s.run(t, "", "squeue", "-h", "-j", job) == "" })
}

// state returns the state of a task, such as COMPLETED.
func (s slurm) state(t *testing.T, task string) string {
	t.Helper()
	for field := range strings.FieldsSeq(s.run(t, "", "scontrol", "show", "job", task)) {
		if state, ok := strings.CutPrefix(field, "JobState="); ok {
			return state
		}
	}
	return ""
}

// scripts returns the files for sbatch in docs/clusters.md, with other paths.
func scripts(t *testing.T, paths ...string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if strings.HasPrefix(block, "    #!/bin/bash\n") {
			block = strings.ReplaceAll(strings.TrimPrefix(block, "    "), "\n    ", "\n")
			all = append(all, strings.NewReplacer(paths...).Replace(block)+"\n")
		}
	}
	return all
}

// writeScript writes a file for sbatch.
func writeScript(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sameTrees compares two directories byte for byte, with diff.
func sameTrees(t *testing.T, got, want string) {
	t.Helper()
	if output, err := exec.Command("diff", "-r", got, want).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// TestClientSlurm runs the files for sbatch of docs/clusters.md on four nodes, from a directory and from S3. A task of
// the copy is killed in the middle, and Slurm runs it again. What the tasks write is what wkwfs writes at once, byte
// for byte.
func TestClientSlurm(t *testing.T) {
	late := serveLate(t, smallTissue(t), "-read", "200ms")
	cluster, dir := startSlurm(t), tempDir(t)
	source, out := late.Dir, filepath.Join(dir, "out")
	files := scripts(t, "/project/cortex", source, "/scratch/cortex", out)
	if len(files) != 3 {
		t.Fatalf("docs/clusters.md has %d files for sbatch", len(files))
	}

	writeScript(t, filepath.Join(dir, "copy.sh"), files[0])
	job := cluster.run(t, dir, "sbatch", "--parsable", "copy.sh")
	killInTheMiddle(t, filepath.Join(out, ".wkwfs-part-3-of-8"), "SLURM_ARRAY_TASK_ID=3")
	setMode(t, late, "-read", "0")
	cluster.wait(t, job)
	if state := cluster.state(t, job+"_3"); state != "FAILED" {
		t.Errorf("the task that was killed is %s", state)
	}
	cluster.run(t, dir, "scontrol", "requeue", job+"_3")
	cluster.wait(t, job)
	if state := cluster.state(t, job+"_3"); state != "COMPLETED" {
		t.Errorf("the task that ran again is %s", state)
	}
	whole := filepath.Join(dir, "whole")
	mustRun(t, "cp", "-q", source, ".", whole)
	sameTrees(t, out, whole)

	writeScript(t, filepath.Join(dir, "check.sh"), files[1])
	cluster.run(t, dir, "sbatch", "--wait", "check.sh")
	reports, err := filepath.Glob(filepath.Join(dir, "report-*.json"))
	if err != nil || len(reports) != 8 {
		t.Fatal(reports, err)
	}
	merged := mustRun(t, append([]string{"check", "--merge"}, reports...)...)
	cubes, _, _ := strings.Cut(mustRun(t, "check", source), " sound in ")
	if !strings.HasPrefix(merged, cubes) || !strings.HasSuffix(merged, ": no faults\n") {
		t.Errorf("got %s, want %s", merged, cubes)
	}
	importOnSlurm(t, cluster, dir, source)
	slurmFromS3(t, cluster, source, whole)
}

// slurmFromS3 runs the jobs of a copy and a check with a bucket that has the objects of source. The copy is that of the
// directory, byte for byte.
func slurmFromS3(t *testing.T, cluster slurm, source, whole string) {
	dir := tempDir(t)
	bucket, out := filepath.Join(dir, "bucket"), filepath.Join(dir, "out")
	copyObjects(t, source, bucket)
	s3 := startS3(t, bucket)
	for _, v := range s3.env {
		if strings.HasPrefix(v, "AWS_") {
			cluster.env = append(cluster.env, v)
		}
	}
	for i, text := range scripts(t, "/project/cortex", s3.url, "/scratch/cortex", out)[:2] {
		writeScript(t, filepath.Join(dir, fmt.Sprint(i, ".sh")), text)
	}
	cluster.run(t, dir, "sbatch", "--wait", "0.sh")
	sameTrees(t, out, whole)
	cluster.run(t, dir, "sbatch", "--wait", "1.sh")
	reports, err := filepath.Glob(filepath.Join(dir, "report-*.json"))
	if err != nil || len(reports) != 8 {
		t.Fatal(reports, err)
	}
	if merged := mustRun(t, append([]string{"check", "--merge"}, reports...)...); !strings.HasSuffix(merged,
		": no faults\n") {
		t.Errorf("the check of the bucket: %s", merged)
	}
}

// importOnSlurm runs the two jobs of an import.
func importOnSlurm(t *testing.T, cluster slurm, dir, source string) {
	input, dataset, atOnce := filepath.Join(dir, "em.nrrd"), filepath.Join(dir, "new/cortex"),
		filepath.Join(dir, "once/cortex")
	mustRun(t, "cp", "-q", source, "color/1/volume.nrrd", input)
	script := scripts(t, "/project/em.nrrd", input, "/project/cortex", dataset)[2]
	script = strings.Replace(script, "--mags 2", "--mags 2 --cube 32", 1) // for more than one cube of mag 4
	writeScript(t, filepath.Join(dir, "import.sh"), script)
	if err := os.Mkdir(filepath.Dir(dataset), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(atOnce), 0o777); err != nil {
		t.Fatal(err)
	}
	job := cluster.run(t, dir, "sbatch", "--parsable", "import.sh")
	last := cluster.run(t, dir, "sbatch", "--parsable", "--array=0", "--dependency=afterok:"+job, "import.sh",
		"--finish")
	cluster.wait(t, job)
	cluster.wait(t, last)
	if state := cluster.state(t, last); state != "COMPLETED" {
		t.Errorf("the job that finishes the import is %s", state)
	}
	mustRun(t, "import", "-q", input, atOnce, "--layer", "em", "--category", "color", "--mags", "2", "--cube", "32")
	sameTrees(t, dataset, atOnce)
}

// killInTheMiddle kills the wkwfs that has a variable in its environment, when it has begun to write a file below a
// directory.
func killInTheMiddle(t *testing.T, dir, variable string) {
	t.Helper()
	eventually(t, "a file is being written", func() bool {
		found := false
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { // it may not exist yet
			found = found || strings.HasSuffix(path, ".part")
			return nil
		})
		return found
	})
	processes, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		environ, err := os.ReadFile(p)
		executable, _ := os.Readlink(filepath.Join(filepath.Dir(p), "exe"))
		if err != nil || executable != program || !bytes.Contains(environ, []byte(variable+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no wkwfs has %s", variable)
}

// smallTissue writes the sample dataset.
func smallTissue(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), "cortex")
	writeSample(t, dir)
	return dir
}
