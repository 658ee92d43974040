// Package diskcache keeps on a local disk what was read from remote objects, as the server gave it. [Cache.Bucket]
// wraps an [object.Bucket]; the bytes that it reads are the same.
//
// # On the disk
//
// An object is cut into pieces of 2 MiB. A piece is a sparse file; its name is a hash of the identity of the bucket and
// of the reader, the key, the version and the size of the object, and the number of the piece:
//
//	DIR/v1/3f/3f9c…e1-0     a piece: header and checksums in the first 4 KiB, then 512 pages of 4 KiB
//	DIR/v1/indexes/41…      an index of a compressed file, with a checksum: see [Cache.PutIndex]
//	DIR/v1/usage            the bytes in use; a process that writes or evicts holds its lock (flock)
//	DIR/CACHEDIR.TAG        tells backup programs to leave the directory out
//
// A page has a checksum (CRC-32C), which also depends on the object and on the place of the page. A page whose checksum
// is 0 is absent. A page is served only if its checksum is right; any other is read from the source again. So nothing
// needs a sync, and a writer that is killed, a power failure, or a flipped bit cost a request and nothing else. A new
// version of an object has another hash. The pieces of the old version are evicted as they are no longer used.
//
// # Reads
//
// A read takes its pages from pieces on the disk. What is missing is widened to units of 64 KiB and becomes a flight:
// one request to the source, for which all readers of these units wait. A flight is canceled when its last reader has
// gone. What it has fetched stays in memory until it is written. So no range is requested twice.
//
// # Memory
//
// Flights share a bound on memory: a read that would exceed it waits until others have copied their bytes, and until
// these are written. Bytes that readers already have wait in the queue of the writer, up to [Options].Pending. A flight
// waits up to a tenth of a second for its place there. So a burst is stored completely. A flight that has waited in
// vain is not stored, and for a second no other one waits: a disk that is slower than the source, or that does not
// answer, costs readers little time.
//
// # Size
//
// One goroutine of each process writes, in batches. Under the lock it adds the most that the batch can take to the
// number in DIR/v1/usage, writes, and corrects the number to the blocks that the disk has allocated. So the number is
// never too low, whenever a process is killed. If there is no room, the writer lists all pieces, and removes those
// whose last use (mtime) is longest ago, until a twentieth of the size is free. This also corrects the number. A file
// is cut to length 0 before it is removed, so that its blocks are free even if another process has it open.
//
// All types are safe for concurrent use, and all processes of a machine may share a directory.
//
// # Decisions
//
// The disk cache has no index. Each 2 MiB of an object are a file with a checksum for each page. A page with a
// wrong checksum is absent, so nothing is synced, and a crash needs no repair. The number of bytes in use is in a
// file, too high rather than too low after a crash. An eviction lists all files, once for each twentieth of the
// size.
//
// Requests for the disk cache are widened to 64 KiB. On a line of 90 MB/s this takes 0.7 ms, and saves two of
// three requests of a reader in order. With 256 KiB, a random reader of blocks would fetch thirteen times what it
// needs.
//
// Fetched bytes wait for a place among the 16 MiB to be written, up to a tenth of a second. Without that wait, 10 to 55
// percent of a dd of R were not stored. The memory is mapped for each request: kept for the next one, it took 10 to 25
// MiB more.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Every byte is one that the server has sent for this object in this version. A flipped bit, a file that is cut,
//     and a file of something else are read again from the server.
//     `TestRangesAtBoundaries`, `TestVersions`, `TestFlippedBits`, `TestWrongFiles`, `FuzzPiece`
//   - What is stored survives restarts. A process may be killed at any moment.
//     `TestRangesAtBoundaries`, `TestKilledWriters`, `TestDiskCache`
//   - An index of a compressed file is there as it was put, or is absent. It counts and is evicted as pieces are.
//     `TestIndexes`, `TestIndexesThatFail`, `TestIndexesAreEvicted`
//   - All processes of a machine may use one directory at once.
//     `TestTwoProcesses`, `TestAgreesWithModel`
//   - The directory never takes more than `--disk-cache-size` of the disk, and leaves `--disk-cache-min-free` of
//     it free. Files that were not used for longest are removed first.
//     `TestSizeWhileWriting`, `TestSizeOnDisk`, `TestLeastRecentlyUsed`
//   - If the disk is full or read-only, reads go on without storing, and the log has one warning.
//     `TestFullDisk`, `TestReadOnlyDisk`, `TestRemovedWhileOpen`
//   - Readers have their bytes before these are written. If 16 MiB wait to be written, new requests wait for the disk,
//     up to a tenth of a second. Bytes that have waited so long are not stored, and `dropped_bytes` in the status
//     counts them. For a second after that, nothing waits. So a disk that hangs takes at most a tenth of the time, and
//     a burst is stored completely.
//     `TestBurst`, `TestDiskThatDoesNotWrite`, `TestMemoryOfFlights`, `TestManyLargeReads`
//   - Readers of one range make one request. A request is canceled when its last reader is gone. A read is
//     widened to multiples of 64 KiB.
//     `TestSingleFlight`, `TestCanceledReader`, `TestSmallRead`, `TestReadCached`, `TestReadParts`
//   - Answers of the server about objects, also that they do not exist, and its listings are valid for a minute.
//     So a change shows up to a minute late. If a read finds that an object has changed, that read fails, and the
//     next one asks again.
//     `TestTTL`, `TestDiskCacheTTL`
//   - An object without a version is not stored, and the log says so once.
//     `TestNoVersion`
//   - URLs that differ in server, path, query, user or password are different objects, also in the memory of the
//     process, in ETags and in handles of NFS. So are objects that are read with different credentials of S3 or
//     Google. What tells credentials apart is the id of the key, or the file. For sessions, it is the profile,
//     role, container or machine. All sessions from the environment count as one.
//     `TestReadersOfOneURL`, `TestReadersOfOneBucket`, `TestIdentities`, `TestS3Roles`, `TestGoogleReaders`,
//     `TestVersions`
//   - The directory has no password and no query, only digests of them that are slow to guess. Members of a group
//     that shares it can read what any of them has read.
//     `TestReadersOfOneURL`, `TestIdentities`
//   - A directory that belongs to another user, or that others may write to, is refused. Mode 2770 shares it with
//     its group.
//     `TestAccess`, `TestOwner`
package diskcache
