package diskcache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// usage is the file with the number of bytes that the cache has on the disk. It is locked by whoever writes to the
// cache or removes pieces, in any process. It is not safe for concurrent use.
type usage struct {
	dir    string
	access access
	file   *os.File // nil before the first lock
}

const (
	usageName = "usage"
	// usageSize is the length of the file: a number and the CRC-32C of its bytes.
	usageSize = 12

	lockTimeout = 10 * time.Second
	lockRetry   = 2 * time.Millisecond
)

var errLocked = errors.New("another process has held its lock for 10 seconds")

// lock waits for the lock.
func (u *usage) lock(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errLocked)
	defer cancel()
	for {
		ok, err := u.tryLock()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", filepath.Join(u.dir, usageName), context.Cause(ctx))
		}
	}
}

// tryLock takes the lock if it is free. It opens the file again if somebody has removed it.
func (u *usage) tryLock() (ok bool, err error) {
	if u.file == nil {
		if u.file, err = u.open(); err != nil {
			return false, err
		}
	}
	err = unix.Flock(int(u.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK || err == unix.EINTR {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "flock", Path: u.file.Name(), Err: err}
	}
	if st, err := statFile(u.file); err == nil && st.Nlink > 0 {
		return true, nil
	}
	u.close()
	return false, nil
}

func (u *usage) open() (*os.File, error) {
	path := filepath.Join(u.dir, usageName)
	f, _, err := u.access.openFile(path)
	if os.IsNotExist(err) { // somebody has removed the directory
		if err = u.access.mkdir(u.dir); err == nil {
			f, _, err = u.access.openFile(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (u *usage) unlock() {
	if u.file != nil {
		_ = unix.Flock(int(u.file.Fd()), unix.LOCK_UN) // cannot fail: the lock is held
	}
}

func (u *usage) close() {
	if u.file != nil {
		u.file.Close() // nothing was written since the last check of an error
		u.file = nil
	}
}

// load returns the number. ok is false if the file has none. The lock is held.
func (u *usage) load() (used int64, ok bool, err error) {
	var b [usageSize]byte
	if _, err := u.file.ReadAt(b[:], 0); err == io.EOF {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	used = int64(binary.LittleEndian.Uint64(b[:8]))
	return used, used >= 0 && crc32.Checksum(b[:8], castagnoli) == binary.LittleEndian.Uint32(b[8:]), nil
}

// read returns the number without the lock, as an estimate.
func (u *usage) read() (int64, error) {
	if u.file == nil {
		f, err := os.Open(filepath.Join(u.dir, usageName))
		if err != nil {
			return 0, err
		}
		defer f.Close()
		u = &usage{file: f}
	}
	used, ok, err := u.load()
	if !ok {
		used = 0
	}
	return used, err
}

// store sets the number. The lock is held.
func (u *usage) store(used int64) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(max(0, used)))
	_, err := u.file.WriteAt(binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), 0)
	return err
}

// unwritable reports whether an error says that nothing can be written to the disk now.
func unwritable(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
