package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/peer"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// browserTime is how long the command of the browser may take to find out that there is none. It may go on for as long
// as the browser runs.
const browserTime = 2 * time.Second

// openBrowser opens a URL in the browser of the desktop. It fails if there is none.
func openBrowser(url string) error {
	var stderr bytes.Buffer
	cmd := browserCommand(url)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go guard.FuncElse("view.browser", func() {
		err := cmd.Wait() // first: nobody may look at what it prints while it prints
		guard.Pass("view.browser")
		ended <- err
	}, func(err error) { ended <- err })()
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", cmd.Args[0], err), errors.New(stderr.String()))
		}
	case <-time.After(browserTime):
	}
	return nil
}

// ownRequest reports whether a request comes from a process of this user, or of root: under WSL, root makes the
// connections of browsers in Windows. Where users are not known, browserCommand shows the URL to nobody else.
func ownRequest(r *http.Request) bool {
	if !peer.Known {
		return true
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if err != nil || !ok {
		return false
	}
	uid, ok := peer.Owner(remote, local.AddrPort())
	return ok && (uid == uint32(os.Getuid()) || uid == 0)
}
