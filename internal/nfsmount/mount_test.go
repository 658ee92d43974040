package nfsmount

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/guard"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/mounts"
	"github.com/wkwfs/wkwfs/internal/nfs"
)

// fakeSystem has programs that only write: their arguments, and a table of mounts with a mountpoint in each line.
type fakeSystem struct {
	*System
	t   *testing.T
	dir string
}

// newSystem returns a fake system. mount and unmount are what its programs do, in the language of the shell. $table is the file with the
// table, $point the last argument.
func newSystem(t *testing.T, mount, unmount string) *fakeSystem {
	t.Helper()
	f := &fakeSystem{&System{Poll: time.Millisecond}, t, t.TempDir()}
	f.write("table", "")
	f.MountProgram, f.UnmountProgram = f.program("mount_nfs", mount), f.program("umount", unmount)
	f.ReadTable = func() (mounts.Table, error) {
		table := mounts.Table{{ID: 1, Point: "/", Type: "apfs", Source: "/dev/disk1"}, {ID: 2, Point: "/other", Type: "nfs", Source: "server:/data"}}
		for i, point := range strings.Fields(f.read("table")) {
			table = append(table, mounts.Mount{ID: 3 + i, Point: point, Type: "nfs", Source: "127.0.0.1:/"})
		}
		return table, nil
	}
	return f
}

// What programs do that work. The table is replaced at once, as by a kernel.
const (
	mountsIt   = `echo "$point" >> "$table"`
	unmountsIt = `grep -vxF "$point" "$table" > "$table.new"; mv "$table.new" "$table"`
	inUse      = `[ "$1" = -f ] || { echo "umount($point): Resource busy -- try 'diskutil unmount'" >&2; exit 1; }; ` + unmountsIt
)

func (f *fakeSystem) program(name, does string) string {
	f.write(name, fmt.Sprintf("#!/bin/sh\nfor point; do :; done\ntable='%s'\necho \"$*\" >> '%s'\n%s\n", f.path("table"), f.path(name+".args"), does))
	if err := os.Chmod(f.path(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	return f.path(name)
}

func (f *fakeSystem) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fakeSystem) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeSystem) read(name string) string {
	b, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Error(err)
	}
	return string(b)
}

// attach mounts a small tree.
func (f *fakeSystem) attach() (*Server, string, error) {
	f.t.Helper()
	point, err := f.Prepare(f.t.TempDir(), f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	m, err := f.Mount(point, fstest.MapFS{"f": {Data: []byte("123")}}, nfs.Options{})
	return m, point, err
}

// address returns where the server listens, according to the arguments of mount_nfs.
func (f *fakeSystem) address() string {
	f.t.Helper()
	m := regexp.MustCompile(`,port=([0-9]+),`).FindStringSubmatch(f.read("mount_nfs.args"))
	if m == nil {
		f.t.Fatalf("no port: %s", f.read("mount_nfs.args"))
	}
	return net.JoinHostPort("127.0.0.1", m[1])
}

// listens reports whether there is a server at an address.
func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// waitSilent fails if there is still a server at an address after a while. The kernel closes a listener a moment after the server has ended.
func waitSilent(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); listens(address); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("there is a server, but no mount")
		}
	}
}

// waitEnded fails if the mount does not end soon.
func waitEnded(t *testing.T, m *Server) {
	t.Helper()
	ended := make(chan struct{})
	go func() { m.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the server runs a minute after its mount was gone")
	}
	if err := m.Check(); !errors.Is(err, errEnded) {
		t.Errorf("after the end: %v", err)
	}
}

func TestNFSMountArguments(t *testing.T) {
	got := arguments(20490, "/Users/me/a b,c")
	want := "-o ro,nobrowse,vers=3,tcp,port=20490,mountport=20490,retrycnt=0,nolocks,soft,intr,timeo=900,retrans=2,deadtimeout=300," +
		"actimeo=1,nonegnamecache,rsize=1048576,readahead=16 127.0.0.1:/ /Users/me/a b,c"
	if strings.Join(got, " ") != want || len(got) != 4 {
		t.Errorf("got %q", got)
	}
}

// TestNFSMount mounts, and unmounts in three ways. The server lives as long as the mount.
func TestNFSMount(t *testing.T) {
	for name, unmount := range map[string]func(f *fakeSystem, m *Server, point string) error{
		"command": func(f *fakeSystem, _ *Server, point string) error { return f.Unmount(point, false) },
		"signal":  func(_ *fakeSystem, m *Server, _ string) error { return m.Unmount() },
		"others":  func(f *fakeSystem, _ *Server, _ string) error { f.write("table", ""); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newSystem(t, mountsIt, unmountsIt)
			m, point, err := f.attach()
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(m.Check(), f.CheckNew(point)); err != nil {
				t.Error(err)
			}
			if found, err := f.Find(filepath.Join(point, "color/1")); err != nil || found != point {
				t.Errorf("found %q, %v", found, err)
			}
			if all, err := f.Mountpoints(); err != nil || len(all) != 1 || all[0] != point {
				t.Errorf("mountpoints: %q, %v", all, err)
			}
			if _, err := f.Prepare(point, t.TempDir()); err == nil || !strings.Contains(err.Error(), "already mounted") {
				t.Errorf("a second mount: %v", err)
			}
			address := f.address()
			if !listens(address) {
				t.Error("no server while it is mounted")
			}
			if err := unmount(f, m, point); err != nil {
				t.Fatal(err)
			}
			waitEnded(t, m)
			waitSilent(t, address)
			if _, err := f.Find(point); err == nil {
				t.Error("found a mount that is gone")
			}
		})
	}
}

// TestNFSMountLongName: the table may have the long name of a mountpoint, below the volume of users.
func TestNFSMountLongName(t *testing.T) {
	f := newSystem(t, mountsIt, unmountsIt)
	readTable := f.ReadTable
	f.ReadTable = func() (mounts.Table, error) {
		table, err := readTable()
		for i := range table {
			table[i].Point = dataVolume + table[i].Point
		}
		return table, err
	}
	m, point, err := f.attach()
	if err != nil {
		t.Fatal(err)
	}
	if found, err := f.Find(filepath.Join(point, "f")); err != nil || found != point {
		t.Errorf("found %q, %v", found, err)
	}
	if err := f.Unmount(point, false); err != nil {
		t.Fatal(err)
	}
	waitEnded(t, m)
}

// TestNFSMountInUse: a mount in use stays, unless it is forced away. A signal forces it.
func TestNFSMountInUse(t *testing.T) {
	f := newSystem(t, mountsIt, inUse)
	m, point, err := f.attach()
	if err != nil {
		t.Fatal(err)
	}
	err = f.Unmount(point, false)
	var explained *hint.Error
	if !errors.As(err, &explained) || !strings.Contains(err.Error(), "Resource busy") || !strings.Contains(explained.Hint, "--lazy "+point) {
		t.Errorf("got %v", err)
	}
	if err := m.Check(); err != nil || !listens(f.address()) {
		t.Errorf("the server has ended: %v", err)
	}
	if err := f.Unmount(point, true); err != nil {
		t.Fatal(err)
	}
	waitEnded(t, m)

	if m, point, err = f.attach(); err != nil {
		t.Fatal(err)
	}
	if err := m.Unmount(); err != nil {
		t.Fatal(err)
	}
	waitEnded(t, m)
	if calls := f.read("umount.args"); !strings.HasSuffix(calls, point+"\n-f "+point+"\n") {
		t.Errorf("umount was called with\n%s", calls)
	}
}

// TestNFSMountFails: if mount_nfs fails, or mounts nothing, there is no server either.
func TestNFSMountFails(t *testing.T) {
	for mount, want := range map[string]string{
		`echo "mount_nfs: can't mount / from 127.0.0.1: Permission denied" >&2; exit 1`: "Permission denied",
		"exit 70": "exit status 70",
		"exit 0":  "is not a mount",
	} {
		f := newSystem(t, mount, unmountsIt)
		_, point, err := f.attach()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "mounting on "+point) {
			t.Errorf("%s: got %v", mount, err)
		}
		waitSilent(t, f.address())
	}
	f := newSystem(t, mountsIt, unmountsIt)
	f.MountProgram = f.path("absent")
	if _, _, err := f.attach(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without mount_nfs: %v", err)
	}
}

// TestNFSMountTableFails: a mount goes on while the table cannot be read, or reading it panics.
func TestNFSMountTableFails(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	f := newSystem(t, mountsIt, unmountsIt)
	readTable, fails, failed := f.ReadTable, make(chan struct{}), make(chan struct{})
	n := 0
	f.ReadTable = func() (mounts.Table, error) {
		select {
		case <-fails:
		default:
			return readTable()
		}
		if n++; n == 3 {
			close(failed)
		}
		switch n {
		case 1, 3:
			return nil, errors.New("no table")
		case 2:
			panic("no table")
		}
		return readTable()
	}
	m, _, err := f.attach()
	if err != nil {
		t.Fatal(err)
	}
	close(fails)
	<-failed
	if err := m.Check(); err != nil {
		t.Errorf("the server has ended: %v", err)
	}
	f.write("table", "")
	waitEnded(t, m)
}

// TestNFSMountOthers: only mounts of wkwfs are unmounted, and nothing is mounted where the server would read itself.
func TestNFSMountOthers(t *testing.T) {
	f := newSystem(t, mountsIt, unmountsIt)
	for path, want := range map[string]string{"/": "type apfs", "/other": "type nfs of server:/data", t.TempDir(): "is not a mount"} {
		if err := f.Unmount(path, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("umount %s: %v", path, err)
		}
		if _, err := f.Find(path); err == nil {
			t.Errorf("%s is in a mount", path)
		}
	}
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "would hide", filepath.Join(dir, "absent"): "does not exist", f.path("table"): "not a directory"} {
		if _, err := f.Prepare(path, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("prepare %s: %v", path, err)
		}
	}
}
