//go:build !darwin

package main

import (
	"os/exec"

	"github.com/wkwfs/wkwfs/internal/serve/peer"
)

// browserCommand opens a URL in the browser of the desktop. All users see the URL in the list of processes, so it must
// lead nowhere for others (see ownRequest). A file that only the user may read, with a redirection, would do as well,
// but browsers in snaps cannot read it.
func browserCommand(url string) *exec.Cmd { return exec.Command("xdg-open", url) }

// hasDisplay reports whether a browser can have a window. It is false where users cannot be told apart.
func hasDisplay(getenv func(string) string) bool {
	return peer.Known && (getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "")
}
