// Package status reports what a running server does: as a [Status] for users and programs, as metrics for
// Prometheus, and as files in the mount.
//
// A [Meter] counts each read and each failed request. It is safe for concurrent use and takes less than 100
// ns for a read: atomic additions, and a lock only for slow reads. Reads, bytes, errors and latencies are
// counted once, in counters of Prometheus. A Status is computed from them.
//
// The package knows neither FUSE nor the cache. The caller passes functions that return the numbers of the
// cache and of the source.
//
// # Decisions
//
// The status is an fs.FS around the view. Package fsnode knows only that some files are live (vfs.Details): they are
// read past the page cache, with an owner of their own.
//
// A count exists once, in Prometheus' counters. Quantiles are computed from the histogram's ranges, and rates from
// samples of it.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `.wkwfs/status.json` and `.wkwfs/metrics` in the root of a mount show what its server did and does. No
//     listing shows them, and programs that walk the mount do not meet them.
//     `TestStatus`, `TestStatusIsHidden`
//   - Each open takes a snapshot of its own. The size is 0, as in `/proc`. The names in the JSON are an interface.
//     `TestFilesAreSnapshots`, `TestFields`
//   - Only the user who mounted may read status and metrics in the mount, whatever `allow_other`, `uid` and `umask`
//     are. `TestStatusIsPrivate`, `TestStatusOfOrdinaryUser`
//   - Nothing in `.wkwfs` waits for the source, and neither does `wkwfs status`. It reports a server that is dead
//     or stopped.
//     `TestStatusWhileTheSourceHangs`, `TestStatusErrors`
//   - Status and metrics show how many requests the source got, how long it takes to answer, and how long the oldest
//     request waits. `TestFields`, `TestMetrics`, `TestDirectories`, `TestStatusWhileTheSourceHangs`
//   - Quantiles are computed from a histogram. The end of each of its ranges is at most 1⅔ times the end of the
//     range before. Rates cover the last ten seconds.
//     `TestQuantile`, `TestNow`
//   - Metrics over a socket are for its owner. Metrics over TCP are for this machine only. The socket is removed
//     with the mount; a stale socket is replaced.
//     `TestMetrics`, `TestMetricsAfterKill`, `TestOptionErrors`
//   - An event is one line of the log, or one entry of the journal with its level.
//     `TestLogOfRequests`, `TestJournal`, `TestSender`
//   - A server in the background logs to the journal, else to syslog, else to a file of its own. The last line of
//     `wkwfs mount`, and the status, say where the log is, or why there is none.
//     `TestJournal`, `TestLogFileOfItsOwn`, `TestFields`, `TestStateDir`
//   - A log file that reaches 16 MiB is renamed, and three renamed files are kept. If it cannot be renamed,
//     writing to it continues. Several mounts may share a file.
//     `TestRotation`, `TestFileThatCannotBeRenamed`, `TestSharedFile`
package status
