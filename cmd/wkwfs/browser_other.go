//go:build !darwin

package main

// browserProgram opens URLs in the browser of the desktop.
const browserProgram = "xdg-open"

// hasDisplay reports whether a browser can have a window.
func hasDisplay(getenv func(string) string) bool {
	return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}
