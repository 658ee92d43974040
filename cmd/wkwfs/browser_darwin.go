package main

// browserProgram opens URLs in the browser of the desktop.
const browserProgram = "open"

// hasDisplay reports whether a browser can have a window that the user sees.
func hasDisplay(getenv func(string) string) bool { return getenv("SSH_CONNECTION") == "" }
