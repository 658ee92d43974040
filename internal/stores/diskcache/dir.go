package diskcache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

const (
	noFollow = unix.O_NOFOLLOW

	// formatDir is the directory of the pieces. Another format would have another one.
	formatDir = "v1"
	// systemDir is the default place of caches of root.
	systemDir = "/var/cache/wkwfs"

	// tag is the content of a CACHEDIR.TAG (https://bford.info/cachedir).
	tagName = "CACHEDIR.TAG"
	tag     = "Signature: 8a477f597d28d172789f06886806bc55\n# This directory has a cache of wkwfs. It can be removed.\n"
)

// DefaultDir returns the usual place of the cache: /var/cache/wkwfs for root, otherwise wkwfs in XDG_CACHE_HOME or
// ~/.cache.
func DefaultDir() (string, error) {
	if os.Geteuid() == 0 {
		return systemDir, nil
	}
	dir, err := os.UserCacheDir() // fails if XDG_CACHE_HOME is relative
	if err == nil && !filepath.IsAbs(dir) {
		err = fmt.Errorf("HOME is %q, which is not an absolute path", dir)
	}
	if err != nil {
		return "", hint.Errorf("name a directory", "the directory of the disk cache: %w", err)
	}
	return filepath.Join(dir, "wkwfs"), nil
}

// access says who may use the directory: its owner, or the members of its group, too.
type access struct{ dir, file fs.FileMode }

var (
	private = access{0o700, 0o600}
	shared  = access{0o770 | fs.ModeSetgid, 0o660}
)

// prepare makes the directory of the cache, or checks that no stranger can write to an existing one. It returns the
// directory of the pieces. An error that wraps EROFS or ENOSPC leaves a cache that can only be read.
func prepare(dir string) (pieces string, a access, err error) {
	pieces = filepath.Join(dir, formatDir)
	if err := os.MkdirAll(dir, private.dir); err != nil {
		return pieces, private, fmt.Errorf("disk cache: %w", err)
	}
	if a, err = checkAccess(dir); err != nil {
		return "", a, err
	}
	if err := a.mkdir(pieces); err != nil {
		return pieces, a, fmt.Errorf("disk cache: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, tagName)); err != nil {
		if err := os.WriteFile(filepath.Join(dir, tagName), []byte(tag), a.file); err != nil {
			return pieces, a, fmt.Errorf("disk cache: %w", err)
		}
	}
	return pieces, a, nil
}

// checkAccess refuses a directory to which users may write who could show others wrong voxels: the checksums do not
// protect from intent.
func checkAccess(dir string) (access, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return private, fmt.Errorf("disk cache: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode()
	switch {
	case !info.IsDir():
		return private, fmt.Errorf("disk cache: %s: expected a directory, found %v", dir, mode.Type())
	case !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return private, hint.Errorf("name a directory of your own",
			"disk cache: %s belongs to user %d, who could change what you read", dir, st.Uid)
	case mode.Perm()&0o002 != 0:
		return private, hint.Errorf("name a directory in it, or chmod o-w "+hint.Quote(dir),
			"disk cache: all users may write to %s, and could change what you read", dir)
	case mode.Perm()&0o020 != 0 && mode&fs.ModeSetgid == 0:
		return private, hint.Errorf("chmod 2770 "+hint.Quote(dir)+" shares the cache with the group, chmod g-w "+
			hint.Quote(dir)+" does not",
			"disk cache: the group of %s may write to it, and could change what you read", dir)
	case mode.Perm()&0o020 != 0:
		return shared, nil
	}
	return private, nil
}

// mkdir makes a directory with the permissions, unless it exists.
func (a access) mkdir(dir string) error {
	err := os.Mkdir(dir, a.dir.Perm())
	switch {
	case os.IsExist(err):
		return nil
	case err != nil || a == private:
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&(fs.ModePerm|fs.ModeSetgid) == a.dir {
		return err
	}
	return os.Chmod(dir, a.dir) // the umask denied it to the group
}

// openFile opens a file to write it, and makes it if it does not exist.
func (a access) openFile(path string) (f *os.File, created bool, err error) {
	const flags = os.O_RDWR | noFollow
	if f, err = os.OpenFile(path, flags, 0); !os.IsNotExist(err) {
		return f, false, err
	}
	f, err = os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, a.file)
	if os.IsExist(err) { // made meanwhile
		f, err = os.OpenFile(path, flags, 0)
		return f, false, err
	}
	if err == nil && a == shared {
		if err = f.Chmod(a.file); err != nil {
			f.Close()
		}
	}
	return f, true, err
}

// statFile describes a file in units of the system.
func statFile(f *os.File) (st unix.Stat_t, err error) {
	for {
		if err = unix.Fstat(int(f.Fd()), &st); err != unix.EINTR {
			return st, err
		}
	}
}
