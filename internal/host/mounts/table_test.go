//go:build linux

package mounts

import (
	"slices"
	"strings"
	"testing"
)

const sampleTable = `22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,relatime shared:2 master:1 - devtmpfs devtmpfs rw,size=12334524k
30 27 0:50 / /mnt/a rw,nosuid - fuse.wkwfs /data/old ro,user_id=0
31 30 0:51 / /mnt/a rw,nosuid - fuse.wkwfs /data/new ro,user_id=1000,group_id=0
32 27 0:52 / /mnt/with\040space\134and\011tab rw - fuse.sshfs host:/x\040y rw
`

func TestParseTable(t *testing.T) {
	got, err := parseTable(strings.NewReader(sampleTable))
	if err != nil {
		t.Fatal(err)
	}
	want := Table{
		{22, "/proc", "proc", "proc", "", "0:21"},
		{24, "/dev", "devtmpfs", "devtmpfs", "", "0:6"},
		{30, "/mnt/a", "fuse.wkwfs", "/data/old", "0", "0:50"},
		{31, "/mnt/a", "fuse.wkwfs", "/data/new", "1000", "0:51"},
		{32, "/mnt/with space\\and\ttab", "fuse.sshfs", "host:/x y", "", "0:52"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, damaged := range []string{"1 2 3\n", "22 27 0:21 / /proc rw,relatime x proc proc rw\n",
		`1 2 0:1 / /a\04 rw - t s rw` + "\n"} {
		if table, err := parseTable(strings.NewReader(damaged)); err == nil {
			t.Errorf("%q: got %v, want an error", damaged, table)
		}
	}
}

func TestTableAt(t *testing.T) {
	table, err := parseTable(strings.NewReader(sampleTable))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := table.At("/mnt/a"); !ok || m.Source != "/data/new" {
		t.Errorf("got %v, %v; want the mount on top", m, ok)
	}
	if m, ok := table.At("/mnt"); ok {
		t.Errorf("got %v for a path that is no mountpoint", m)
	}
}

func TestThisProcess(t *testing.T) {
	m, ok, err := At("/proc")
	if err != nil || !ok || m.Type != "proc" {
		t.Errorf("At(/proc) = %v, %v, %v", m, ok, err)
	}
	if IsDead("/proc") {
		t.Error("/proc counts as dead")
	}
}

func TestTableContaining(t *testing.T) {
	table := Table{
		{ID: 1, Point: "/", Type: "ext4"}, {ID: 2, Point: "/mnt/a", Type: "fuse.wkwfs"},
		{ID: 3, Point: "/mnt/a/b", Type: "tmpfs"},
		{ID: 4, Point: "/mnt/c", Type: "fuse.wkwfs"}, {ID: 5, Point: "/mnt/c", Type: "ext4"},
	}
	for path, want := range map[string]int{
		"/": 1, "/mnt": 1, "/mnt/a": 2, "/mnt/a/color/1": 2, "/mnt/ab": 1, "/mnt/a/b/x": 3, "/mnt/c/x": 5,
	} {
		if m, ok := table.Containing(path); !ok || m.ID != want {
			t.Errorf("%s is in %+v, %v; want %d", path, m, ok, want)
		}
	}
	if m, ok := table[1:].Containing("/srv"); ok {
		t.Errorf("nowhere: %+v", m)
	}
}

// TestReusedID: a mount that is gone does not seem to exist because another mount has its ID.
func TestReusedID(t *testing.T) {
	gone := Mount{30, "/mnt/a", "fuse.wkwfs", "/data/old", "0", "0:50"}
	if !(Table{gone}).Has(gone) {
		t.Error("the mount is not found")
	}
	if (Table{{30, "/mnt/b", "fuse.wkwfs", "/data/old", "0", "0:50"}}).Has(gone) {
		t.Error("another mount with the ID of the one that is gone is taken for it")
	}
}

// TestFindRenamed: a mount is found where it is now. Another mount at its place is not taken for it.
func TestFindRenamed(t *testing.T) {
	m := Mount{30, "/mnt/a", "fuse.wkwfs", "/data", "0", "0:50"}
	renamed, bound, successor := m, m, m
	renamed.Point = "/mnt/b"
	bound.ID, successor.Device = 31, "0:51"
	if now, ok := (Table{successor, bound, renamed}).Find(m); !ok || now != renamed {
		t.Errorf("found %+v, %v; want %+v", now, ok, renamed)
	}
	if now, ok := (Table{successor, bound}).Find(m); ok {
		t.Errorf("found %+v, want nothing", now)
	}
}
