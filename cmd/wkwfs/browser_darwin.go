package main

import (
	"os/exec"
	"strings"
)

// browserCommand opens a URL in the browser of the desktop. The URL is not an argument, because all users see those.
func browserCommand(url string) *exec.Cmd {
	cmd := exec.Command("osascript") // reads AppleScript from standard input
	cmd.Stdin = strings.NewReader(`open location "` + url + `"`)
	return cmd
}

// hasDisplay reports whether a browser can have a window that the user sees.
func hasDisplay(getenv func(string) string) bool { return getenv("SSH_CONNECTION") == "" }
