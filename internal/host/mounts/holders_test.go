//go:build linux

package mounts

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// TestHolders finds the processes that use a mount, in a procfs of the test.
func TestHolders(t *testing.T) {
	proc := t.TempDir()
	process := func(pid, name string, links map[string]string, maps string) {
		dir := filepath.Join(proc, pid)
		write(t, filepath.Join(dir, "comm"), name+"\n")
		write(t, filepath.Join(dir, "maps"), maps)
		for link, to := range links {
			link = filepath.Join(dir, link)
			if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, link); err != nil {
				t.Fatal(err)
			}
		}
	}
	process("10", "elsewhere", map[string]string{"cwd": "/mnt/ab", "root": "/", "fd/0": "/dev/null",
		"fd/1": "socket:[7]"}, "00-10 r-xp 00 fe:01 8 /usr/bin/cat\n")
	process("20", "bash", map[string]string{"cwd": "/mnt/a", "root": "/"}, "")
	process("30", "dd", map[string]string{"cwd": "/", "fd/0": "/mnt/a/color/1/volume.raw"}, "")
	process("40", "python3 -i", map[string]string{"cwd": "/"},
		"7f00-7f10 rw-p 00000000 00:00 0\n7f10-7f20 r--p 00000000 00:32 9                  /mnt/a/color/1/volume.npy\n")
	process("50", "chroot", map[string]string{"root": "/mnt/a"}, "")
	process(strconv.Itoa(os.Getpid()), "wkwfs", map[string]string{"cwd": "/mnt/a"}, "")
	if err := os.Mkdir(filepath.Join(proc, "60"), 0o777); err != nil { // a process that has just ended
		t.Fatal(err)
	}
	got := holders(proc, "/mnt/a")
	slices.Sort(got)
	if want := []string{"bash (20)", "chroot (50)", "dd (30)", "python3 -i (40)"}; !slices.Equal(got, want) {
		t.Errorf("held by %q, want %q", got, want)
	}
	if got := holders(proc, "/mnt/abc"); got != nil {
		t.Errorf("held by %q", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
