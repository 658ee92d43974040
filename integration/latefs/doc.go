// Package latefs shows a directory as a file system that answers late, as file servers and object stores do. On demand
// it does not answer at all, or with errors. It is for tests and the benchmark.
//
// It is a FUSE loopback, read-only and past the page cache. The kernel believes names and attributes for a second, as
// it does of a file server. Each request of the kernel waits once: the entries that a READDIRPLUS describes cost no
// more than the one request.
//
// How requests are answered is a [Mode], which is written as flags of the command line. It can be changed while the
// file system is mounted, by the same flags: see [Control]. As of a file server, who waits for an answer can be killed,
// but no other signal ends the wait.
package latefs
