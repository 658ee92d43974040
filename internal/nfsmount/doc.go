// Package nfsmount mounts a tree with the NFS client of the system, for systems without FUSE: macOS. The server runs in this process and
// listens on this machine only.
//
// A [System] is what the package uses of the operating system: two programs and the table of mounts. Tests replace them, so they run on
// every system.
//
// Nothing here accesses a mount, because an access would wait for the server. A mount is known by its entry in the table.
package nfsmount
