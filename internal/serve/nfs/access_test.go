package nfs

import (
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestCaller: a process counts as its user, root's may be anybody, and root of another machine is nobody.
func TestCaller(t *testing.T) {
	alice := claim{uid: 1000, gid: 100, groups: []uint32{4, 27}}
	bob := claim{uid: 1001, gid: 100}
	root := claim{}
	none := claim{uid: nobody, gid: nobody}
	for _, c := range []struct {
		name  string
		claim claim
		peer  peer
		want  caller
	}{
		{"another machine", alice, peer{}, caller{claim: alice}},
		{"root of another machine", root, peer{}, caller{claim: none}},
		{"root's groups of another machine", claim{groups: []uint32{4}}, peer{}, caller{claim: none}},
		{"the group of root of another machine", claim{uid: 1000}, peer{},
			caller{claim: claim{uid: 1000, gid: nobody}}},
		{"a member of that group", claim{uid: 1000, gid: 100, groups: []uint32{4, 0, 27}}, peer{},
			caller{claim: alice}},
		{"a user's process", alice, peer{alice, true}, caller{claim: alice}},
		{"a liar", alice, peer{bob, true}, caller{claim: bob}},
		{"a liar who claims to be root", root, peer{bob, true}, caller{claim: bob}},
		{"a liar about groups", claim{uid: 1001, gid: 0, groups: []uint32{0}}, peer{bob, true}, caller{claim: bob}},
		{"a process that hides", root, peer{none, true}, caller{claim: none}},
		{"the kernel for alice", alice, peer{root, true}, caller{claim: alice}},
		{"the kernel for a member of root's group", claim{uid: 1000, groups: []uint32{0}}, peer{root, true},
			caller{claim: claim{uid: 1000, groups: []uint32{0}}}},
		{"the kernel for root", root, peer{root, true}, caller{claim: root, root: true}},
	} {
		got := callerOf(c.claim, c.peer)
		if got.uid != c.want.uid || got.gid != c.want.gid || got.root != c.want.root ||
			!slices.Equal(got.groups, c.want.groups) {
			t.Errorf("%s: got %+v, expected %+v", c.name, got, c.want)
		}
	}
}

// TestMay: the first class that the caller belongs to counts, as in the kernel.
func TestMay(t *testing.T) {
	const alice, staff = 1000, 50
	for _, c := range []struct {
		name   string
		caller caller
		mode   fs.FileMode
		want   bool
	}{
		{"owner", caller{claim: claim{uid: alice}}, 0o400, true},
		{"owner without permission", caller{claim: claim{uid: alice, gid: staff}}, 0o044, false},
		{"group", caller{claim: claim{uid: 1, gid: staff}}, 0o040, true},
		{"another group", caller{claim: claim{uid: 1, gid: 1, groups: []uint32{7, staff}}}, 0o040, true},
		{"group without permission", caller{claim: claim{uid: 1, gid: staff}}, 0o404, false},
		{"others", caller{claim: claim{uid: 1, gid: 1}}, 0o004, true},
		{"others without permission", caller{claim: claim{uid: 1, gid: 1}}, 0o440, false},
		{"root", caller{root: true}, 0, true},
		{"nobody", caller{claim: claim{uid: nobody, gid: nobody}}, 0o440, false},
	} {
		files := fstest.MapFS{"f": {Mode: c.mode, Sys: &syscall.Stat_t{Uid: alice, Gid: staff}}}
		info, err := fs.Stat(files, "f")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.caller.may(info, mayRead); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

// TestPeer: the user of a real connection is known.
func TestPeer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux knows the users of sockets")
	}
	for _, address := range []string{"127.0.0.1:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil && address != "127.0.0.1:0" {
			t.Logf("no IPv6 here: %v", err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).AddrPort().Port()
		client, err := net.Dial("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if p := peerOf(server); !p.known || p.uid != uint32(os.Getuid()) {
			t.Errorf("at %s: got %+v, expected user %d", address, p, os.Getuid())
		}
		client.Close()
		// The table names root as the owner of a socket that is closed.
		if p := peerOf(server); !p.known || p.uid != nobody {
			t.Errorf("at %s, after the client has gone: got %+v, expected nobody", address, p)
		}
	}
}
