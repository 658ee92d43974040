package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command returns a command in a process group of its own, so that Ctrl-C interrupts only this process, which then
// unmounts in order.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// call runs a program. If it fails, the error has its output.
func call(ctx context.Context, args ...string) error {
	_, err := timeCommand(ctx, 0, args...)
	return err
}

// timeCommand runs a program that reads or writes n bytes of voxels, and drops what it prints. The figure is its speed
// in GB/s.
func timeCommand(ctx context.Context, n int64, args ...string) (turn, error) {
	cmd := command(ctx, args...)
	start := time.Now()
	output, err := cmd.CombinedOutput()
	seconds := time.Since(start).Seconds()
	if err != nil {
		return turn{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, output)
	}
	state := cmd.ProcessState
	cpu := (state.UserTime() + state.SystemTime()).Seconds()
	return turn{Values: []float64{float64(n) / 1e9 / seconds}, Bytes: n, CPU: cpu}, nil
}

// missing returns why a program cannot run, or "".
func missing(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return "no " + program
	}
	return ""
}

// tempDir makes a directory for a mount, or for the files of a server.
func tempDir() (string, error) { return os.MkdirTemp("", "wkwfs-bench-") }

// ownTime returns the CPU time of this process in seconds.
func ownTime() float64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // cannot fail
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// dropCaches drops the clean pages of the whole machine from the page cache.
func dropCaches() error {
	unix.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return fmt.Errorf("drop the page cache: %w", err)
	}
	return nil
}

// cacheFiles reads files, and all files in directories, into the page cache.
func cacheFiles(paths []string) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				err = copyFile(io.Discard, path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyFile writes the bytes of a file to w.
func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err
}

// warmMemory takes n bytes of memory, but at most a quarter of the machine's, and frees them. The kernel of a virtual
// machine tells its host which pages are free, some seconds after they were freed. The host takes them away, and needs
// up to 2.5 ms to give back 2 MiB. Without this, a turn measures mostly which pages its predecessors have left. A real
// machine has no host, and all of its memory is warm.
func warmMemory(n int) error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fmt.Errorf("size of the memory: %w", err)
	}
	n = min(n, int(info.Totalram*uint64(info.Unit)/4))
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("warm the memory: %w", err)
	}
	_ = unix.Madvise(p, unix.MADV_HUGEPAGE) // the kernel may not support huge pages
	for i := 0; i < n; i += unix.Getpagesize() {
		p[i] = 1
	}
	return unix.Munmap(p)
}
