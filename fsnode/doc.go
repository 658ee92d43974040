//go:build linux

// Package fsnode serves an [fs.FS] over FUSE. It is the only package of wkwfs that deals with the
// kernel: error numbers, flags, page sizes and readahead. It knows nothing of voxels.
//
// To serve an fs.FS, call [Mount] and wait until the mount ends:
//
//	server, err := fsnode.Mount("/mnt/data", os.DirFS("/data"), fsnode.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	server.Wait() // for "umount /mnt/data", or for server.Unmount
//
// # File systems
//
// Open files must implement [io.ReaderAt] or [ContextReaderAt]. Listings must be sorted by name, as
// [fs.ReadDirFS] requires. The interfaces of this package are optional abilities of open files and of their
// descriptions (fs.FileInfo). An fs.FileInfo with a *syscall.Stat_t in Sys also sets the owner, the group and
// the times of an entry.
//
// # Errors
//
// The error number of a request follows from the error of the fs.FS by [errors.Is]: fs.ErrNotExist is ENOENT,
// fs.ErrPermission EACCES, fs.ErrInvalid EINVAL, and context.Canceled and context.DeadlineExceeded are EINTR.
// ENOTDIR, ENAMETOOLONG, EMFILE, ENFILE and ENOMEM keep their numbers. Any other error is EIO. Errors that
// show a fault are logged, each once.
//
// # Identity
//
// The inode number of an entry is a hash of its path, so it is the same after a remount. The number of a node, by which
// the kernel knows it, is a hash of its path and the version of its content ([Details]). When a file changes, a lookup
// of its name returns a new node, which has its own page cache. The old node keeps its pages and its open files. So
// only files that can be written need to be invalidated, and old and new bytes cannot meet in one page cache. The
// kernel may use a name from its cache for a second. Open compares versions and returns ESTALE if the file has changed;
// the kernel then looks up the name again and opens the new version. So each open sees the current version. The kernel
// repeats an open once, so Open keeps the new version for the thread until then: however often the file changes, the
// program never sees ESTALE. Threads outside of the PID namespace of the server cannot be distinguished. They see
// ESTALE if the file changes twice during one open.
//
// File handles (name_to_handle_at, NFS) consist of the numbers of nodes. The paths of the last 80,000 nodes or so are
// kept, in 16 MiB, so that the kernel finds a node again after it has forgotten it.
//
// # Reading
//
// The answer to a READ is complete or an error, because the kernel fills up a short answer with zeros. Bytes
// go from the file to the buffer that is written to the kernel without another copy, if the file is a
// ContextReaderAt. Live files ([Details]) are read past the page cache. So is a file that is usually read once
// ([Pusher]), when once.go says so.
//
// # Writing
//
// With [Options].Writable, programs can write files that are a [Writer]. The size of a file stays: the kernel may set
// it to what it is, or to 0, which changes nothing and means that all bytes will be written. Such a file is one node,
// whatever it contains, so that all programs that have it open share its pages. Each open forgets the pages from
// before, and a close or fsync after a write forgets those of the other files that are open and can be written. Pages
// of shared maps reach the server when they are synced, or when the map is removed, on all kernels. There is no
// writeback cache: each write(2) is a request.
//
// With a [Saver], programs also save whole files. One that opens a file with O_TRUNC gets a handle of its own, which is
// read and written past the page cache, and has its own size for seeks. All others see the file as before, until a
// close commits what was written. A new file is a node of its own. The kernel may keep neither its name nor its
// attributes: after a rename, the name is that of another node.
//
// # Concurrency
//
// Each request has a goroutine of its own, so calls of the fs.FS and reads of one file are concurrent.
//
// A request continues for 5 seconds after a signal to its reader, because programs do not expect EINTR from a
// file. Then it ends with EINTR and abandons its call: the call continues until the fs.FS answers, and a file
// that it opens is closed. Up to 1,000 abandoned calls are in progress at a time. While
// [Options.AnswersAtOnce] returns true, no call is abandoned. A read of a ContextReaderAt is canceled by its
// context instead.
//
// # Limits
//
// The fs.FS follows symbolic links. Devices and other special files are shown as regular files. Names have up
// to 255 bytes.
//
// The process must never access its own mount: a request that waits for another request of the same server
// can be a deadlock.
//
// # Decisions
//
// Boxes, and slices in order, are read past the page cache when they are first opened. The kernel sends one request
// for each read of the program, up to 1 MiB, and needs no new pages. A program that opens the file again probably
// reads it often, so this open uses the page cache.
//
// Programs that read 4 or 128 KiB at a time lose by that: they wait for the server each time, without readahead.
// A file that is open stays as it was opened. So such a program loses with one file, and the next 256 opens use the
// page cache. With a file of more than 4 MiB, a program would lose more. So such a file is read past the page cache
// only if the reader that was observed last may read large pieces: its first request had 128 KiB, the most that the
// kernel asks for at first through the page cache.
//
// Identity by generation, not by invalidation. Notifications race with reads and with the attribute cache; a new
// node cannot.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - fio verifies what it reads, and finds no fault with its engines sync, mmap, libaio and io_uring.
//     `TestClientFio`
//   - A program that looks up, opens, lists or asks for attributes can be killed while the source does not answer, as a
//     reader can. A source may be on another machine if it is an overlay, or if another file system than a disk's is
//     mounted below it when wkwfs mounts it. Programs that look up the same name may wait for each other in the kernel,
//     and then end one after the other. Up to 1,000 such calls are abandoned; what they open later is closed.
//     `TestWaitingProcessesCanBeKilled`, `TestEveryRequestWhileTheSourceHangs`,
//     `TestEveryRequestWhileTheServerIsStopped`, `TestEveryRequestWhileWhatLooksLocalHangs`, `TestMayHang`,
//     `TestRequestsCanBeAbandoned`, `TestAbandonedCallsAreBounded`
//   - A change is detected by a different time, later or earlier. The clock does not matter.
//     `TestClockSteps`
//   - A listing shows what exists, even if a program has set a directory back to its old time.
//     `TestListingIsCurrent`
//   - File handles, which NFS servers give to their clients, also work after the kernel has forgotten the file, if
//     the server still has its path. Otherwise, and when the file has changed, a handle fails with ESTALE. It never
//     opens another file or version.
//     `TestFileHandles`, `TestFileHandlesUnderLoad`, `TestForgottenNodes`, `TestForgottenErrors`,
//     `TestNodePathsAreBounded`
//   - The attributes of the root and of open files are current; if the source does not answer within a tenth of a
//     second, they are the last known ones. For files this holds if the source may be on another machine or
//     answers late.
//     `TestAttributesDoNotWait`, `TestAttributesAfterTimeout`, `TestAttributesFail`
//   - A directory can be read from any offset that it returned before. `find`, `cp -a` and `tar` copy the tree.
//     `TestListings`, `TestTools`, `TestListingOfLarge`
//   - An open directory lists what it had when it was opened. A directory of more than 4,096 entries may show
//     later changes, as on disk.
//     `TestListingStays`
package fsnode
