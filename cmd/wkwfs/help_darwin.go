package main

// Parts of help texts that are about mounts on macOS.
const (
	mountHelp = `The NFS client of macOS makes the mount, and the background process is its server.
Nothing else has to be installed. Builds for macOS were never run there.

SIGTERM removes the mount at once. Programs that use it get errors.`

	umountHelp = `A mount whose process was killed needs --lazy.`

	lazyHelp = "unmount even if it is in use; programs that use it get errors"

	statusHelp = `Only the user who mounted can ask.`
)
