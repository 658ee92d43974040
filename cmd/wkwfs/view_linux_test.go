package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// getAs requests a URL from a socket of another user, without following a redirection.
func getAs(t *testing.T, uid int, url string) (status int, location string) {
	t.Helper()
	dial := func(_ context.Context, network, address string) (net.Conn, error) {
		runtime.LockOSThread() // the thread ends with its goroutine, and has the user until then
		if _, err := unix.SetfsuidRetUid(uid); err != nil {
			return nil, err
		}
		return net.Dial(network, address)
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	reply, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return reply.StatusCode, reply.Header.Get("Location")
}

// TestViewOfOthers: another user who sees the arguments of the browser cannot use them, and does not use them up.
func TestViewOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	argument := fakeBrowser(t)
	link, _ := startView(t)
	url := argument(link)
	for _, uid := range []int{1000, 65534} {
		if status, location := getAs(t, uid, url); status != http.StatusForbidden || location != "" {
			t.Errorf("user %d: status %d, to %q", uid, status, location)
		}
		if status, _ := getAs(t, uid, link); status >= 400 {
			t.Errorf("user %d with the link of the terminal: status %d", uid, status)
		}
	}
	if status, location := getAs(t, 0, url); status != http.StatusSeeOther || location == "" {
		t.Errorf("the user: status %d, to %q", status, location)
	}
}
