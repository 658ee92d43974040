package peer

import (
	"net/netip"
	"strings"
	"testing"
)

const socketTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:500A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0
   1: 0100007F:D431 0100007F:500A 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0
   2: 0100007F:500A 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0
   3: 0100007F:D432 0100007F:500A 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   4: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF00000100007F:500A 01 00000000:00000000 00:00000000 00000000  1001        0 4 1 0
   5: 00000000000000000000000001000000:D434 00000000000000000000000001000000:500A 01 00000000:00000000 00:00000000 00000000  1002        0 5 1 0
`

func TestFindSocket(t *testing.T) {
	for _, c := range []struct {
		name, bound, connected string
		uid                    uint32
		found                  bool
	}{
		{"a client", "127.0.0.1:54321", "127.0.0.1:20490", 1000, true},
		{"the server's end", "127.0.0.1:20490", "127.0.0.1:54321", 0, true},
		{"a client that has gone", "127.0.0.1:54322", "127.0.0.1:20490", 0, false}, // the table says root
		{"an IPv4 client of IPv6", "127.0.0.1:54323", "127.0.0.1:20490", 1001, true},
		{"the same, written as IPv6", "[::ffff:127.0.0.1]:54323", "[::ffff:127.0.0.1]:20490", 1001, true},
		{"IPv6", "[::1]:54324", "[::1]:20490", 1002, true},
		{"unknown", "127.0.0.1:54325", "127.0.0.1:20490", 0, false},
	} {
		uid, found, err := findSocket(strings.NewReader(socketTable), netip.MustParseAddrPort(c.bound),
			netip.MustParseAddrPort(c.connected))
		if uid != c.uid || found != c.found || err != nil {
			t.Errorf("%s: got %d, %t, %v", c.name, uid, found, err)
		}
	}
	for _, bad := range []string{"x\n1: 2 3\n", "x\n1: zz:1 0100007F:500A 01 a b c 0 0 1\n",
		"x\n1: 0100007F:1 0100007F:G 01 a b c 0 0 1\n"} {
		if _, found, err := findSocket(strings.NewReader(bad), netip.AddrPort{}, netip.AddrPort{}); found ||
			err == nil {
			t.Errorf("%q: got %t, %v", bad, found, err)
		}
	}
}
