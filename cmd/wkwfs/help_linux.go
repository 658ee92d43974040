package main

import "github.com/wkwfs/wkwfs/internal/serve/status"

// Parts of help texts that are about mounts on Linux.
const (
	mountHelp = `Users other than root need fusermount3 (apt install fuse3).

MOUNTPOINT may be /dev/fd/N: descriptor N is /dev/fuse, which another program has opened and
mounted. Then wkwfs needs no privileges, stays in the foreground, and does not unmount.

SIGTERM removes the mount at once. The process serves the files that are open until they
are closed, while another one may mount at the same place. A second signal ends it.`

	umountHelp = `This also works for a mount whose process was killed ("Transport endpoint is not
connected").`

	lazyHelp = "unmount even if it is in use; open files stay readable until they are closed"

	statusHelp = `The mount has the same in the file ` + status.StatusFile + `, and for Prometheus in
` + status.MetricsFile + `. No listing shows these files. Only the user who mounted can read them.`
)
