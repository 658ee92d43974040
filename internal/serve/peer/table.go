// Package peer says which user of this machine has made a connection. The kernel knows that, whatever the other process
// claims.
//
// # Decisions
//
// The user of a local NFS connection comes from the kernel's table of sockets. Any program can claim any user with
// AUTH_SYS. The NFS clients of kernels prove that they tell the truth by a port below 1024, which only root can
// bind. Programs such as libnfs cannot, and should not need root to read a user's own files.
//
// wkwfs view gives a link to the browser, and other users can see it among the arguments of the process. By the same
// table, the link works only for this user and root (ownRequest in cmd/wkwfs). Other programs write a file with a
// redirection that only the user may read. Browsers in snaps, as on Ubuntu, cannot read such a file, and xdg-open may
// open it in an editor.
package peer

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// established is the state of a socket that a process has open. For a socket in another state, the table may name root
// as the owner.
const established = "01"

// findSocket finds the established socket that is bound to one address and connected to the other in a table like
// /proc/net/tcp (proc_net_tcp.rst of the kernel's documentation), and returns its owner. found is false if there is
// none.
func findSocket(table io.Reader, bound, connected netip.AddrPort) (uid uint32, found bool, err error) {
	lines := bufio.NewScanner(table)
	lines.Scan() // the names of the columns
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) < 8 {
			return 0, false, fmt.Errorf("expected at least 8 columns, found %q", lines.Text())
		}
		from, err := parseSocketAddress(columns[1])
		if err != nil {
			return 0, false, err
		}
		to, err := parseSocketAddress(columns[2])
		if err != nil {
			return 0, false, err
		}
		if from != unmapped(bound) || to != unmapped(connected) || columns[3] != established {
			continue
		}
		owner, err := strconv.ParseUint(columns[7], 10, 32)
		return uint32(owner), err == nil, err
	}
	return 0, false, lines.Err()
}

// unmapped returns an address without the prefix of IPv4 in IPv6, and without a zone.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// parseSocketAddress parses ADDRESS:PORT in hexadecimal digits. The address consists of 32-bit words in little-endian
// order.
func parseSocketAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, fmt.Errorf("expected an address and a port in hexadecimal digits, found %q", text)
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	address, _ := netip.AddrFromSlice(b)
	return unmapped(netip.AddrPortFrom(address, uint16(number))), nil
}
