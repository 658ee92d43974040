//go:build !linux

package peer

import "net/netip"

// Known is false on systems without Linux' tables of sockets.
const Known = false

// Owner knows no users.
func Owner(_, _ netip.AddrPort) (uid uint32, ok bool) { return 0, false }
