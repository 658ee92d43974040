// Package latefs mounts a directory as a file system that answers late, as file servers and object stores do.
// On demand it does not answer at all, or answers with errors. Tests and the benchmark use it as a source.
//
// It is a read-only FUSE loopback that bypasses the page cache. The kernel caches names and attributes for a
// second, as for a file server. Each request of the kernel waits once: a READDIRPLUS waits once for all entries
// that it describes.
//
// A [Mode] defines how requests are answered. It is written as command-line flags. The same flags change it
// while the file system is mounted: see [Control]. As with a file server, SIGKILL ends a process that waits for
// an answer, and no other signal ends the wait.
package latefs
