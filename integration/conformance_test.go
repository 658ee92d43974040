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

// conformance has the results of system calls on a read-only file system. Paths are relative to color/1, where
// volume.raw is a file, z0 is a directory and "absent" does not exist.
var conformance = []struct {
	call string
	do   func(dir string) error
	want syscall.Errno
}{
	{"open", opens("volume.raw", unix.O_RDONLY), noError},
	{"open, absent", opens("absent", unix.O_RDONLY), unix.ENOENT},
	{"open, below an absent directory", opens("absent/x", unix.O_RDONLY), unix.ENOENT},
	{"open, below a file", opens("volume.raw/x", unix.O_RDONLY), unix.ENOTDIR},
	{"open, a file with a slash", opens("volume.raw/", unix.O_RDONLY), unix.ENOTDIR},
	{"open, . of a file", opens("volume.raw/.", unix.O_RDONLY), unix.ENOTDIR},
	{"open, up and down", opens("z0/../volume.raw", unix.O_RDONLY), noError},
	{"open, a file as a directory", opens("volume.raw", unix.O_DIRECTORY), unix.ENOTDIR},
	{"open, a file as no link", opens("volume.raw", unix.O_NOFOLLOW), noError},
	{"open, a name of 255 bytes", opens(strings.Repeat("x", 255), unix.O_RDONLY), unix.ENOENT},
	{"open, a name of 256 bytes", opens(strings.Repeat("x", 256), unix.O_RDONLY), unix.ENAMETOOLONG},
	{"open, a path of 4096 bytes", opens(strings.Repeat("./", 2048), unix.O_RDONLY), unix.ENAMETOOLONG},
	{"open, a name that is not UTF-8", opens("\xff\xfe", unix.O_RDONLY), unix.ENOENT},
	{"open to write", opens("volume.raw", unix.O_WRONLY), unix.EROFS},
	{"open to read and write", opens("volume.raw", unix.O_RDWR), unix.EROFS},
	{"open to append", opens("volume.raw", unix.O_WRONLY|unix.O_APPEND), unix.EROFS},
	{"open to truncate", opens("volume.raw", unix.O_RDONLY|unix.O_TRUNC), unix.EROFS},
	{"open a directory to write", opens("z0", unix.O_WRONLY), unix.EISDIR},
	{"open to create, exists", opens("volume.raw", unix.O_RDONLY|unix.O_CREAT), noError},
	{"open to create exclusively, exists", opens("volume.raw", unix.O_RDONLY|unix.O_CREAT|unix.O_EXCL), unix.EEXIST},
	{"open to create", opens("absent", unix.O_RDONLY|unix.O_CREAT), unix.EROFS},
	{"open to create and write", opens("absent", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL), unix.EROFS},
	{"open to create, below a file", opens("volume.raw/x", unix.O_RDWR|unix.O_CREAT), unix.ENOTDIR},
	{"open to create, below an absent directory", opens("absent/x", unix.O_RDWR|unix.O_CREAT), unix.ENOENT},
	{"open a temporary file", opens("z0", unix.O_RDWR|unix.O_TMPFILE), unix.EROFS},

	{"stat", atPath("volume.raw", stats), noError},
	{"stat, absent", atPath("absent", stats), unix.ENOENT},
	{"stat, below a file", atPath("volume.raw/x", stats), unix.ENOTDIR},
	{"stat, a long name", atPath(strings.Repeat("x", 256), stats), unix.ENAMETOOLONG},
	{"stat, below a long name", atPath(strings.Repeat("x", 256)+"/x", stats), unix.ENAMETOOLONG},
	{"access to read", atPath("volume.raw", accesses(unix.R_OK)), noError},
	{"access to write", atPath("volume.raw", accesses(unix.W_OK)), unix.EROFS},
	{"access to execute", atPath("volume.raw", accesses(unix.X_OK)), unix.EACCES},
	{"access to search", atPath("z0", accesses(unix.X_OK)), noError},
	{"readlink",
		atPath("volume.raw", func(p string) error { _, err := unix.Readlink(p, make([]byte, 10)); return err }),
		unix.EINVAL},
	{"readlink, a directory",
		atPath("z0", func(p string) error { _, err := unix.Readlink(p, make([]byte, 10)); return err }), unix.EINVAL},
	{"chdir", atPath("volume.raw", unix.Chdir), unix.ENOTDIR},
	{"execve", atPath("volume.raw", func(p string) error { return unix.Exec(p, []string{p}, nil) }), unix.EACCES},

	{"mkdir", atPath("absent", makes), unix.EROFS},
	{"mkdir, exists", atPath("z0", makes), unix.EEXIST},
	{"mkdir, a file", atPath("volume.raw", makes), unix.EEXIST},
	{"mkdir, below an absent directory", atPath("absent/x", makes), unix.ENOENT},
	{"mkdir, below a file", atPath("volume.raw/x", makes), unix.ENOTDIR},
	{"mknod", atPath("absent", func(p string) error { return unix.Mknod(p, unix.S_IFREG|0o644, 0) }), unix.EROFS},
	{"mkfifo", atPath("absent", func(p string) error { return unix.Mkfifo(p, 0o644) }), unix.EROFS},
	{"symlink", atPath("absent", func(p string) error { return unix.Symlink("x", p) }), unix.EROFS},
	{"symlink, exists", atPath("volume.raw", func(p string) error { return unix.Symlink("x", p) }), unix.EEXIST},
	{"link", atPath("volume.raw", func(p string) error { return unix.Link(p, p+"x") }), unix.EROFS},
	{"link, absent", atPath("absent", func(p string) error { return unix.Link(p, p+"x") }), unix.ENOENT},
	{"unlink", atPath("volume.raw", unix.Unlink), unix.EROFS},
	{"unlink, below a file", atPath("volume.raw/x", unix.Unlink), unix.ENOTDIR},
	{"rmdir", atPath("z0", unix.Rmdir), unix.EROFS},
	{"rmdir, .", atPath("z0/.", unix.Rmdir), unix.EINVAL},
	{"rmdir, ..", atPath("z0/..", unix.Rmdir), unix.ENOTEMPTY},
	{"rename", atPath("volume.raw", func(p string) error { return unix.Rename(p, p+"x") }), unix.EROFS},
	{"rename, a directory", atPath("z0", func(p string) error { return unix.Rename(p, p+"x") }), unix.EROFS},
	{"rename, .", atPath("z0/.", func(p string) error { return unix.Rename(p, p+"x") }), unix.EBUSY},
	{"truncate", atPath("volume.raw", func(p string) error { return unix.Truncate(p, 0) }), unix.EROFS},
	{"truncate, a directory", atPath("z0", func(p string) error { return unix.Truncate(p, 0) }), unix.EISDIR},
	{"truncate, a negative size", atPath("volume.raw", func(p string) error { return unix.Truncate(p, -1) }),
		unix.EINVAL},
	{"chmod", atPath("volume.raw", func(p string) error { return unix.Chmod(p, 0o777) }), unix.EROFS},
	{"chmod, absent", atPath("absent", func(p string) error { return unix.Chmod(p, 0o777) }), unix.ENOENT},
	{"chown", atPath("volume.raw", func(p string) error { return unix.Chown(p, 1, 1) }), unix.EROFS},
	{"utimes", atPath("volume.raw", func(p string) error { return unix.Utimes(p, nil) }), unix.EROFS},
	{"setxattr", atPath("volume.raw", func(p string) error { return unix.Setxattr(p, "user.x", []byte("x"), 0) }),
		unix.EROFS},
	{"removexattr", atPath("volume.raw", func(p string) error { return unix.Removexattr(p, "user.x") }), unix.EROFS},
	{"getxattr, absent",
		atPath("volume.raw", func(p string) error { _, err := unix.Getxattr(p, "user.x", nil); return err }),
		unix.ENODATA},

	{"read a directory", withFile("z0", func(fd int) error { _, err := unix.Read(fd, make([]byte, 10)); return err }),
		unix.EISDIR},
	{"pread a directory",
		withFile("z0", func(fd int) error { _, err := unix.Pread(fd, make([]byte, 10), 0); return err }), unix.EISDIR},
	{"list a file", withFile("volume.raw", func(fd int) error { _, err := getdents(fd, 1000); return err }),
		unix.ENOTDIR},
	{"list into a buffer that is too small", withFile("z0",
		func(fd int) error { _, err := getdents(fd, 8); return err }), unix.EINVAL},
	{"pread at a negative offset", withFile("volume.raw",
		func(fd int) error { _, err := unix.Pread(fd, make([]byte, 10), -1); return err }), unix.EINVAL},
	{"seek to a negative offset", withFile("volume.raw", seeks(-1, unix.SEEK_SET)), unix.EINVAL},
	{"seek with an invalid whence", withFile("volume.raw", seeks(0, 99)), unix.EINVAL},
	{"seek data after the end", withFile("volume.raw", seeks(1<<50, unix.SEEK_DATA)), unix.ENXIO},
	{"seek a hole after the end", withFile("volume.raw", seeks(1<<50, unix.SEEK_HOLE)), unix.ENXIO},
	{"write to a file opened to read", withFile("volume.raw",
		func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err }), unix.EBADF},
	{"truncate a file opened to read", withFile("volume.raw", func(fd int) error { return unix.Ftruncate(fd, 0) }),
		unix.EINVAL},
	{"fchmod", withFile("volume.raw", func(fd int) error { return unix.Fchmod(fd, 0o777) }), unix.EROFS},
	{"fsync", withFile("volume.raw", unix.Fsync), noError},
	{"fsync, a directory", withFile("z0", unix.Fsync), noError},
	{"flock", withFile("volume.raw", func(fd int) error { return unix.Flock(fd, unix.LOCK_SH) }), noError},
	{"fadvise", withFile("volume.raw", func(fd int) error { return unix.Fadvise(fd, 0, 0, unix.FADV_WILLNEED) }),
		noError},
	{"mkdirat a file", withFile("volume.raw", func(fd int) error { return unix.Mkdirat(fd, "x", 0o755) }),
		unix.ENOTDIR},
	{"fstatat below a directory",
		withFile("z0", func(fd int) error { return unix.Fstatat(fd, "y0", new(unix.Stat_t), 0) }), noError},
}

// conformanceForOthers has the results for a user other than the owner. Only the owner may read x1.raw. Others
// may search z1 but not list it, and they may not enter z2.
var conformanceForOthers = []struct {
	call string
	do   func(dir string) error
	want syscall.Errno
}{
	{"open a volume with an unreadable cube", opens("volume.raw", unix.O_RDONLY), unix.EACCES},
	{"open a readable cube", opens("z0/y0/x0.raw", unix.O_RDONLY), noError},
	{"open an unreadable cube", opens("z0/y0/x1.raw", unix.O_RDONLY), unix.EACCES},
	{"open an unreadable cube to write", opens("z0/y0/x1.raw", unix.O_WRONLY), unix.EROFS},
	{"stat an unreadable cube", atPath("z0/y0/x1.raw", stats), noError},
	{"open, below an unreadable cube", opens("z0/y0/x1.raw/x", unix.O_RDONLY), unix.ENOTDIR},
	{"list a directory that may only be searched", opens("z1", unix.O_RDONLY|unix.O_DIRECTORY), unix.EACCES},
	{"open in a directory that may only be searched", opens("z1/y0/x0.raw", unix.O_RDONLY), noError},
	{"open an absent file there", opens("z1/absent", unix.O_RDONLY), unix.ENOENT},
	{"list a closed directory", opens("z2", unix.O_RDONLY|unix.O_DIRECTORY), unix.EACCES},
	{"stat in a closed directory", atPath("z2/y0", stats), unix.EACCES},
	{"stat an absent file in a closed directory", atPath("z2/absent", stats), unix.EACCES},
	{"stat a long name in a closed directory", atPath("z2/"+strings.Repeat("x", 256), stats), unix.EACCES},
	{"open to create in a closed directory", opens("z2/absent", unix.O_RDWR|unix.O_CREAT), unix.EACCES},
	{"mkdir in a closed directory", atPath("z2/absent", makes), unix.EACCES},
	{"mkdir", atPath("absent", makes), unix.EROFS},
	{"unlink in a closed directory", atPath("z2/y0/x0.raw", unix.Unlink), unix.EACCES},
	{"chmod", atPath("volume.raw", func(p string) error { return unix.Chmod(p, 0o777) }), unix.EROFS},
	{"truncate", atPath("z0/y0/x1.raw", func(p string) error { return unix.Truncate(p, 0) }), unix.EROFS},
}

// opens, atPath and withFile turn a system call into the function of a row.
func opens(name string, flags int) func(string) error {
	return func(dir string) error {
		fd, err := unix.Open(dir+"/"+name, flags|unix.O_CLOEXEC, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

func atPath(name string, call func(path string) error) func(string) error {
	return func(dir string) error { return call(dir + "/" + name) }
}

func withFile(name string, call func(fd int) error) func(string) error {
	return func(dir string) error {
		fd, err := unix.Open(dir+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open the file of the call: %v", err)
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

// conformanceSource writes a mag with directories and cubes that only some users may use.
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

// TestConformance checks the results of system calls against the table. As root, it also checks a read-only
// tmpfs against the table.
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
			if err := c.do(dir); !hasResult(err, c.want) {
				t.Errorf("%s: %s: %v, want %v", dir, c.call, err, c.want)
			}
		}
	}
}

// TestConformanceForOthers does the same as an ordinary user.
func TestConformanceForOthers(t *testing.T) {
	requireRoot(t)
	dir := filepath.Join(mount(t, conformanceSource(t), "--allow-other"), "color/1")
	for _, dir := range []string{dir, kernelCopy(t, dir)} {
		asOrdinaryUser(t, func() {
			for _, c := range conformanceForOthers {
				if err := c.do(dir); !hasResult(err, c.want) {
					t.Errorf("%s: %s: %v, want %v", dir, c.call, err, c.want)
				}
			}
		})
	}
}

func hasResult(err error, want syscall.Errno) bool {
	if want == noError {
		return err == nil
	}
	return errors.Is(err, want)
}

// asOrdinaryUser calls do on a thread that accesses files as an ordinary user. The thread ends after that.
func asOrdinaryUser(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that no other goroutine gets this thread
		err := errors.Join(unix.Setfsgid(nobody), unix.Setfsuid(nobody))
		if uid, _ := unix.SetfsuidRetUid(-1); err == nil && uid != nobody {
			err = fmt.Errorf("the thread is still user %d", uid)
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

// kernelCopy returns a read-only tmpfs with the names, kinds, sizes and permissions of another tree.
func kernelCopy(t *testing.T, original string) string {
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
	err := filepath.WalkDir(original, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(dir, path[len(original):])
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
