package integration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const noError = syscall.Errno(0)

// conformance is what system calls answer on a read-only file system. Paths are below
// color/1: volume.raw is a file, z0 a directory and nothing is not there.
var conformance = []struct {
	call string
	do   func(dir string) error
	want syscall.Errno
}{
	{"open", opens("volume.raw", unix.O_RDONLY), noError},
	{"open, not there", opens("nothing", unix.O_RDONLY), unix.ENOENT},
	{"open, below nothing", opens("nothing/x", unix.O_RDONLY), unix.ENOENT},
	{"open, below a file", opens("volume.raw/x", unix.O_RDONLY), unix.ENOTDIR},
	{"open, a file with a slash", opens("volume.raw/", unix.O_RDONLY), unix.ENOTDIR},
	{"open, . of a file", opens("volume.raw/.", unix.O_RDONLY), unix.ENOTDIR},
	{"open, up and down", opens("z0/../volume.raw", unix.O_RDONLY), noError},
	{"open, a file as a directory", opens("volume.raw", unix.O_DIRECTORY), unix.ENOTDIR},
	{"open, a file as no link", opens("volume.raw", unix.O_NOFOLLOW), noError},
	{"open, a name of 255 bytes", opens(strings.Repeat("x", 255), unix.O_RDONLY), unix.ENOENT},
	{"open, a name of 256 bytes", opens(strings.Repeat("x", 256), unix.O_RDONLY), unix.ENAMETOOLONG},
	{"open, a path of 4096 bytes", opens(strings.Repeat("./", 2048), unix.O_RDONLY), unix.ENAMETOOLONG},
	{"open, a bad name", opens("\xff\xfe", unix.O_RDONLY), unix.ENOENT},
	{"open to write", opens("volume.raw", unix.O_WRONLY), unix.EROFS},
	{"open to read and write", opens("volume.raw", unix.O_RDWR), unix.EROFS},
	{"open to append", opens("volume.raw", unix.O_WRONLY|unix.O_APPEND), unix.EROFS},
	{"open to cut off", opens("volume.raw", unix.O_RDONLY|unix.O_TRUNC), unix.EROFS},
	{"open a directory to write", opens("z0", unix.O_WRONLY), unix.EISDIR},
	{"open to create, there", opens("volume.raw", unix.O_RDONLY|unix.O_CREAT), noError},
	{"open to create, only anew", opens("volume.raw", unix.O_RDONLY|unix.O_CREAT|unix.O_EXCL), unix.EEXIST},
	{"open to create", opens("nothing", unix.O_RDONLY|unix.O_CREAT), unix.EROFS},
	{"open to create and write", opens("nothing", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL), unix.EROFS},
	{"open to create below a file", opens("volume.raw/x", unix.O_RDWR|unix.O_CREAT), unix.ENOTDIR},
	{"open to create below nothing", opens("nothing/x", unix.O_RDWR|unix.O_CREAT), unix.ENOENT},
	{"open a temporary file", opens("z0", unix.O_RDWR|unix.O_TMPFILE), unix.EROFS},

	{"stat", on("volume.raw", stats), noError},
	{"stat, not there", on("nothing", stats), unix.ENOENT},
	{"stat, below a file", on("volume.raw/x", stats), unix.ENOTDIR},
	{"stat, a long name", on(strings.Repeat("x", 256), stats), unix.ENAMETOOLONG},
	{"stat, below a long name", on(strings.Repeat("x", 256)+"/x", stats), unix.ENAMETOOLONG},
	{"access to read", on("volume.raw", accesses(unix.R_OK)), noError},
	{"access to write", on("volume.raw", accesses(unix.W_OK)), unix.EROFS},
	{"access to execute", on("volume.raw", accesses(unix.X_OK)), unix.EACCES},
	{"access to search", on("z0", accesses(unix.X_OK)), noError},
	{"readlink", on("volume.raw", func(p string) error { _, err := unix.Readlink(p, make([]byte, 10)); return err }), unix.EINVAL},
	{"readlink, a directory", on("z0", func(p string) error { _, err := unix.Readlink(p, make([]byte, 10)); return err }), unix.EINVAL},
	{"chdir", on("volume.raw", unix.Chdir), unix.ENOTDIR},
	{"execve", on("volume.raw", func(p string) error { return unix.Exec(p, []string{p}, nil) }), unix.EACCES},

	{"mkdir", on("nothing", makes), unix.EROFS},
	{"mkdir, there", on("z0", makes), unix.EEXIST},
	{"mkdir, a file", on("volume.raw", makes), unix.EEXIST},
	{"mkdir below nothing", on("nothing/x", makes), unix.ENOENT},
	{"mkdir below a file", on("volume.raw/x", makes), unix.ENOTDIR},
	{"mknod", on("nothing", func(p string) error { return unix.Mknod(p, unix.S_IFREG|0o644, 0) }), unix.EROFS},
	{"mkfifo", on("nothing", func(p string) error { return unix.Mkfifo(p, 0o644) }), unix.EROFS},
	{"symlink", on("nothing", func(p string) error { return unix.Symlink("x", p) }), unix.EROFS},
	{"symlink, there", on("volume.raw", func(p string) error { return unix.Symlink("x", p) }), unix.EEXIST},
	{"link", on("volume.raw", func(p string) error { return unix.Link(p, p+"x") }), unix.EROFS},
	{"link, not there", on("nothing", func(p string) error { return unix.Link(p, p+"x") }), unix.ENOENT},
	{"unlink", on("volume.raw", unix.Unlink), unix.EROFS},
	{"unlink, below a file", on("volume.raw/x", unix.Unlink), unix.ENOTDIR},
	{"rmdir", on("z0", unix.Rmdir), unix.EROFS},
	{"rmdir, .", on("z0/.", unix.Rmdir), unix.EINVAL},
	{"rmdir, ..", on("z0/..", unix.Rmdir), unix.ENOTEMPTY},
	{"rename", on("volume.raw", func(p string) error { return unix.Rename(p, p+"x") }), unix.EROFS},
	{"rename, a directory", on("z0", func(p string) error { return unix.Rename(p, p+"x") }), unix.EROFS},
	{"rename, .", on("z0/.", func(p string) error { return unix.Rename(p, p+"x") }), unix.EBUSY},
	{"truncate", on("volume.raw", func(p string) error { return unix.Truncate(p, 0) }), unix.EROFS},
	{"truncate, a directory", on("z0", func(p string) error { return unix.Truncate(p, 0) }), unix.EISDIR},
	{"truncate, a negative size", on("volume.raw", func(p string) error { return unix.Truncate(p, -1) }), unix.EINVAL},
	{"chmod", on("volume.raw", func(p string) error { return unix.Chmod(p, 0o777) }), unix.EROFS},
	{"chmod, not there", on("nothing", func(p string) error { return unix.Chmod(p, 0o777) }), unix.ENOENT},
	{"chown", on("volume.raw", func(p string) error { return unix.Chown(p, 1, 1) }), unix.EROFS},
	{"utimes", on("volume.raw", func(p string) error { return unix.Utimes(p, nil) }), unix.EROFS},
	{"setxattr", on("volume.raw", func(p string) error { return unix.Setxattr(p, "user.x", []byte("x"), 0) }), unix.EROFS},
	{"removexattr", on("volume.raw", func(p string) error { return unix.Removexattr(p, "user.x") }), unix.EROFS},
	{"getxattr, not there", on("volume.raw", func(p string) error { _, err := unix.Getxattr(p, "user.x", nil); return err }), unix.ENODATA},

	{"read a directory", with("z0", func(fd int) error { _, err := unix.Read(fd, make([]byte, 10)); return err }), unix.EISDIR},
	{"pread a directory", with("z0", func(fd int) error { _, err := unix.Pread(fd, make([]byte, 10), 0); return err }), unix.EISDIR},
	{"list a file", with("volume.raw", func(fd int) error { _, err := getdents(fd, 1000); return err }), unix.ENOTDIR},
	{"list into too little room", with("z0", func(fd int) error { _, err := getdents(fd, 8); return err }), unix.EINVAL},
	{"pread before the begin", with("volume.raw", func(fd int) error { _, err := unix.Pread(fd, make([]byte, 10), -1); return err }), unix.EINVAL},
	{"seek before the begin", with("volume.raw", seeks(-1, unix.SEEK_SET)), unix.EINVAL},
	{"seek from nowhere", with("volume.raw", seeks(0, 99)), unix.EINVAL},
	{"seek data behind the end", with("volume.raw", seeks(1<<50, unix.SEEK_DATA)), unix.ENXIO},
	{"seek a hole behind the end", with("volume.raw", seeks(1<<50, unix.SEEK_HOLE)), unix.ENXIO},
	{"write to what is read", with("volume.raw", func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err }), unix.EBADF},
	{"cut off what is read", with("volume.raw", func(fd int) error { return unix.Ftruncate(fd, 0) }), unix.EINVAL},
	{"fchmod", with("volume.raw", func(fd int) error { return unix.Fchmod(fd, 0o777) }), unix.EROFS},
	{"fsync", with("volume.raw", unix.Fsync), noError},
	{"fsync, a directory", with("z0", unix.Fsync), noError},
	{"flock", with("volume.raw", func(fd int) error { return unix.Flock(fd, unix.LOCK_SH) }), noError},
	{"fadvise", with("volume.raw", func(fd int) error { return unix.Fadvise(fd, 0, 0, unix.FADV_WILLNEED) }), noError},
	{"mkdirat a file", with("volume.raw", func(fd int) error { return unix.Mkdirat(fd, "x", 0o755) }), unix.ENOTDIR},
	{"openat a directory", with("z0", func(fd int) error { return unix.Fstatat(fd, "y0", new(unix.Stat_t), 0) }), noError},
}

// forOthers is what they answer to somebody else than the owner: x1.raw may be read by
// its owner only, z1 can be passed and not listed, z2 is closed.
var forOthers = []struct {
	call string
	do   func(dir string) error
	want syscall.Errno
}{
	{"open the whole, of which a part is closed", opens("volume.raw", unix.O_RDONLY), unix.EACCES},
	{"open a cube for all", opens("z0/y0/x0.raw", unix.O_RDONLY), noError},
	{"open a cube of another", opens("z0/y0/x1.raw", unix.O_RDONLY), unix.EACCES},
	{"open that to write", opens("z0/y0/x1.raw", unix.O_WRONLY), unix.EROFS},
	{"stat that", on("z0/y0/x1.raw", stats), noError},
	{"open below that", opens("z0/y0/x1.raw/x", unix.O_RDONLY), unix.ENOTDIR},
	{"list a directory to be passed", opens("z1", unix.O_RDONLY|unix.O_DIRECTORY), unix.EACCES},
	{"open in it", opens("z1/y0/x0.raw", unix.O_RDONLY), noError},
	{"open nothing in it", opens("z1/nothing", unix.O_RDONLY), unix.ENOENT},
	{"list a closed directory", opens("z2", unix.O_RDONLY|unix.O_DIRECTORY), unix.EACCES},
	{"stat in it", on("z2/y0", stats), unix.EACCES},
	{"stat nothing in it", on("z2/nothing", stats), unix.EACCES},
	{"stat a long name in it", on("z2/"+strings.Repeat("x", 256), stats), unix.EACCES},
	{"open to create in it", opens("z2/nothing", unix.O_RDWR|unix.O_CREAT), unix.EACCES},
	{"mkdir in it", on("z2/nothing", makes), unix.EACCES},
	{"mkdir", on("nothing", makes), unix.EROFS},
	{"unlink in it", on("z2/y0/x0.raw", unix.Unlink), unix.EACCES},
	{"chmod", on("volume.raw", func(p string) error { return unix.Chmod(p, 0o777) }), unix.EROFS},
	{"truncate", on("z0/y0/x1.raw", func(p string) error { return unix.Truncate(p, 0) }), unix.EROFS},
}

// opens, on and with make a row out of a system call.
func opens(name string, flags int) func(string) error {
	return func(dir string) error {
		fd, err := unix.Open(dir+"/"+name, flags|unix.O_CLOEXEC, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

func on(name string, call func(path string) error) func(string) error {
	return func(dir string) error { return call(dir + "/" + name) }
}

func with(name string, call func(fd int) error) func(string) error {
	return func(dir string) error {
		fd, err := unix.Open(dir+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("no file to begin with: %v", err)
		}
		defer unix.Close(fd)
		return call(fd)
	}
}

func stats(path string) error { return unix.Lstat(path, new(unix.Stat_t)) }
func makes(path string) error { return unix.Mkdir(path, 0o755) }

func accesses(mode uint32) func(string) error {
	return func(path string) error { return unix.Access(path, mode) }
}

func seeks(off int64, whence int) func(int) error {
	return func(fd int) error { _, err := unix.Seek(fd, off, whence); return err }
}

// conformanceSource is a mag with directories and cubes that not everybody may use.
func conformanceSource(t *testing.T) string {
	source := tempDir(t)
	mag := filepath.Join(source, "color/1")
	small.writeHeader(t, mag)
	for z := range 3 {
		small.write(t, mag, 0, 0, z)
	}
	small.write(t, mag, 1, 0, 0)
	for name, mode := range map[string]os.FileMode{"z0/y0/x1.wkw": 0o600, "z1": 0o711, "z2": 0o700} {
		if err := os.Chmod(filepath.Join(mag, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return source
}

// TestConformance compares what system calls answer with the table; as root, it
// compares the table with a read-only file system of the kernel too.
func TestConformance(t *testing.T) {
	dirs := []string{filepath.Join(mount(t, conformanceSource(t)), "color/1")}
	if os.Geteuid() == 0 {
		dirs = append(dirs, kernelCopy(t, dirs[0]))
	}
	for _, dir := range dirs {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil || st.Namelen != 255 {
			t.Errorf("%s: statfs: names of %d bytes, %v; want 255", dir, st.Namelen, err)
		}
		for _, c := range conformance {
			if err := c.do(dir); !answers(err, c.want) {
				t.Errorf("%s: %s: %v, want %v", dir, c.call, err, c.want)
			}
		}
	}
}

// TestConformanceForOthers does the same as an ordinary user.
func TestConformanceForOthers(t *testing.T) {
	requireRoot(t)
	ours := filepath.Join(mount(t, conformanceSource(t), "--allow-other"), "color/1")
	for _, dir := range []string{ours, kernelCopy(t, ours)} {
		asNobody(t, func() {
			for _, c := range forOthers {
				if err := c.do(dir); !answers(err, c.want) {
					t.Errorf("%s: %s: %v, want %v", dir, c.call, err, c.want)
				}
			}
		})
	}
}

func answers(err error, want syscall.Errno) bool {
	if want == noError {
		return err == nil
	}
	return errors.Is(err, want)
}

// asNobody calls do on a thread that acts as an ordinary user on file systems, and
// that ends with it.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else gets this thread
		err := errors.Join(unix.Setfsgid(nobody), unix.Setfsuid(nobody))
		if uid, _ := unix.SetfsuidRetUid(-1); err == nil && uid != nobody {
			err = fmt.Errorf("still user %d", uid)
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// kernelCopy makes a tree with the names, kinds, sizes and permissions of another one
// on a read-only tmpfs.
func kernelCopy(t *testing.T, of string) string {
	t.Helper()
	dir := tempDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	var modes []func() error
	err := filepath.WalkDir(of, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(dir, path[len(of):])
		modes = append(modes, func() error { return os.Chmod(name, info.Mode().Perm()) })
		if d.IsDir() {
			return os.MkdirAll(name, 0o755)
		}
		return errors.Join(os.WriteFile(name, nil, 0o644), os.Truncate(name, info.Size()))
	})
	for _, set := range modes {
		err = errors.Join(err, set())
	}
	flags := uintptr(unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err = errors.Join(err, unix.Mount("", dir, "", flags, "")); err != nil {
		t.Fatal(err)
	}
	return dir
}
