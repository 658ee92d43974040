package remote

import (
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestNoNetwork: a process that may not open sockets does not repeat its requests, and says what to allow.
func TestNoNetwork(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.org"}
	socket := os.NewSyscallError("socket", syscall.EAFNOSUPPORT)
	for _, err := range []error{
		&net.OpError{Op: "dial", Net: "tcp", Err: socket},
		// it does not wrap the number
		&net.DNSError{Err: "dial udp 192.0.2.1:53: " + socket.Error(), Name: "example.org", IsTemporary: true},
	} {
		f := unanswered("GET", at, &url.Error{Op: "Get", URL: at.String(), Err: err}, true)
		if f.temporary || !strings.Contains(f.hint(""), "RestrictAddressFamilies=AF_INET AF_INET6") {
			t.Errorf("%v: temporary %v, hint %q", err, f.temporary, f.hint(""))
		}
	}
}
