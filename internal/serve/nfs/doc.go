// Package nfs serves a read-only [io/fs.FS] to NFS clients: NFS version 3 and MOUNT version 3 (RFC 1813) over ONC RPC
// (RFC 5531) and TCP, both at one port. It also answers a client that asks this port where the programs are (PORTMAP
// version 2, RFC 1833), so a server at port 111 needs no options in clients. Section numbers in the code refer to RFC
// 1813, unless they name another RFC.
//
// # Handles
//
// The server keeps no state that a handle needs. A handle of up to 64 bytes contains the path of its entry and, for a
// file, 64 bits of the version of its content. So it is valid after a restart, and a file that changes gets a new
// handle; the old one is NFS3ERR_STALE, and clients look up the name again. See handle.go for paths that are longer
// than a handle.
//
// # Access
//
// Every request is checked against the permissions of the entry and of all directories above it, as the kernel does for
// a mount. Anybody can make up a handle, so a handle proves nothing. The directories are checked from the root on,
// before anything below is looked at: a reply tells nothing about directories that the caller may not search.
// READDIRPLUS of a directory that the caller may only read has no attributes and no handles, which are optional
// (3.3.17). AUTH_SYS is a claim, not a proof. So a connection from this machine counts as the user whose process made
// it, whatever it claims (package peer). A connection of root, such as that of the kernel's NFS client, may claim any
// user. A connection from another machine may claim any user. If it claims root, it counts as the user nobody. The
// group of root counts as the group nobody.
//
// # Concurrency and memory
//
// Each request has a goroutine of its own. Requests and replies in flight have a budget of 64 MiB that clients share: a
// connection may use as much as is free. A connection whose client does not read its replies is cut when others wait
// for memory (budget.go). Nothing waits for a slow client but its own requests.
//
// # Reading
//
// READ has no open and no close. The server keeps files open between READs, for half a minute, several times if several
// programs read it at several places (files.go). So each reader has the readahead of an open file.
//
// # Decisions
//
// A handle contains the path of its entry, packed, so that the server needs no table of handles. It can start again,
// or run on another machine over the same source, and clients notice nothing. A hash of the path, as in FUSE, cannot
// be inverted after a restart. A table on disk would grow with every box that is named.
//
// A packed path takes 10 to 40 of the 64 bytes, because numbers are varints and frequent words are one byte.
// Elements that do not fit become hashes, which a listing inverts. 8 bytes are the version of a file: a file that
// changes gets another handle.
//
// We have our own NFS server. The Go module that exists answers one request at a time, and opens the file for each
// READ.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs nfs` shows the names, sizes, times, permissions, inode numbers and bytes of the mount, to NFS version 3.
//     Every directory can be mounted. Directories of blocks are found by name, and listed with `--list-blocks`.
//     `TestClientNFS`, `TestClientNFSQEMU`, `TestClientNFSKernel`, `TestNFS`, `TestHiddenBlocks`, `TestRead`,
//     `TestLookup`
//   - Nothing can be written: requests that write are refused with ROFS.
//     `TestReadOnly`
//   - A handle is valid after a restart of the server. It never opens another file or version: the handle of a
//     file that has changed is stale, and the next lookup finds the new version. Paths that do not fit into 64
//     bytes are found again by listing. If no listing has them, they are found until the server ends, or until 16
//     MiB of newer ones. Files of a mag of more than 20,000 cubes, or whose metadata changed after the server had
//     started or two seconds before, are stale after a restart.
//     `TestDurableVersion`, `TestHandlesSurviveRestart`, `TestRestart`, `TestClientNFSRestart`,
//     `TestClientNFSKernel`, `TestPack`, `TestUnlistedLongNames`, `TestChangedFile`, `TestHandleVersions`
//   - A caller reads, lists and reaches what permissions allow, those of all directories on the way included, also by a
//     handle that it made up. A process of this machine counts as its user, whatever it claims. Root of
//     another machine is nobody, and the group of root is the group nobody.
//     `TestPermissions`, `TestCaller`, `TestMay`, `TestPeer`, `TestFindSocket`
//   - No reply tells a caller whether a name exists below a directory that it may not search, whatever handle it
//     sends. If it may read such a directory, it gets the names, without attributes and handles.
//     `TestClosedDirectory`
//   - Other machines cannot connect without `--trust-clients`.
//     `TestNFSListen`
//   - A listing has each entry once, whatever fits into a reply, and goes on at any cookie, also after a restart.
//     `TestReadDir`, `TestReadDirCookies`, `TestLongListing`
//   - A client that reads no replies holds no other client up, and neither does a file whose source does not
//     answer. Requests and replies in flight take at most 64 MiB. The server ends at most five seconds after a
//     signal.
//     `TestSlowClients`, `TestManyClients`, `TestBudget`, `TestHangingSource`
//   - Bytes that are no call get an error of RPC, or end the connection.
//     `TestRefusedCalls`, `TestDeniedCalls`, `FuzzCall`, `FuzzHandle`
package nfs
