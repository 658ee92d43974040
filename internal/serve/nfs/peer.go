package nfs

import (
	"net"
	"os/user"
	"strconv"

	owners "github.com/wkwfs/wkwfs/internal/serve/peer"
)

// peer is the user whose process made a connection.
type peer struct {
	claim
	known bool // the process is on this machine, and the kernel knows its user
}

// peerOf returns the user of a connection.
func peerOf(conn net.Conn) peer {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	remote, also := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return peer{}
	}
	uid, ok := owners.Owner(remote.AddrPort(), local.AddrPort())
	switch {
	case ok:
		return peer{withGroups(uid), true}
	case owners.Known && remote.IP.IsLoopback():
		return peer{claim{uid: nobody, gid: nobody}, true} // it is here, and hides
	}
	return peer{}
}

// withGroups returns a user and the groups that the machine knows.
func withGroups(uid uint32) claim {
	c := claim{uid: uid, gid: nobody}
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return c
	}
	if gid, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
		c.gid = uint32(gid)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return c
	}
	for _, g := range groups {
		if gid, err := strconv.ParseUint(g, 10, 32); err == nil {
			c.groups = append(c.groups, uint32(gid))
		}
	}
	return c
}
