// Package guard is the boundary of goroutines. A panic that leaves a goroutine ends the program, and with it the mount
// of everybody. Behind a boundary it ends only what the goroutine was doing.
//
// Each goroutine of a server starts behind a boundary:
//
//	go guard.Func("nfs.idle", s.closeIdle)()
//	group.Go(guard.Func("cache.announce", func() { … }))
//	time.AfterFunc(delay, guard.Func("mosaic.close", m.closeUnused))
//
// What happens on a panic depends on who needs the work:
//
//   - nobody waits for it: [Func] drops it. The panic is logged and counted;
//   - others wait for its result: [FuncElse] hands them the panic as an [Error]. [Do] and [Call] return it;
//   - the caller waits for several goroutines that do its work: a [Relay] repeats the panic in the goroutine of the
//     caller, whose boundary decides.
//
// The stack of a panic is logged once. The request that fails because of it logs it, because it knows the file
// ([TakeStack]). If no request does that within a second, this package logs it. It also logs it if the work is dropped.
// [Count] is the number of all panics.
//
// A boundary does not undo what the function has done before the panic: locks, memory and references are given back by
// its deferred calls.
//
// The Go runtime ends the program at some faults that are no panics: concurrent writes to a map, a stack of 1 GB,
// unlocking a mutex that is not locked. No boundary stops these. An access to memory that is not mapped is a panic
// behind a boundary.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - What the server does ahead of a reader, such as pushing, announcing or listing, is dropped when it panics,
//     and switched off for that reader. No read fails because of it.
//     `TestPanicsOfMounts`, `TestAnnouncesNoMore`, `TestPanicsOfStatAhead`, `TestListAheadPanics`,
//     `TestContrastPanics`
//   - A panic leaves no lock, memory, slot or file behind, and no reader waits forever.
//     `TestPanics`, `TestBoundaries`, `TestPanicsOfFile`, `TestPanicsInBackground`, `TestBackgroundPanics`,
//     `TestShutdownPanics`, `TestStallPanics`
//   - The log has the stack of each panic once, in the line of the request that failed, with the operation and the
//     path. If no request failed, the line has no path. The status (`panics`) and the metrics
//     (`wkwfs_panics_total`) count all of them.
//     `TestPanicsOfMounts`, `TestPanic`, `TestPanicIsLogged`, `TestAbandonedPanic`, `TestNobodyTakesTheStack`,
//     `TestStatusText`
//   - Every goroutine of a server starts behind a boundary for its panics. Not even tests can make the released
//     program panic.
//     `TestBoundaries`, `TestInjection`
//   - Some faults still end the server: those that the Go runtime calls fatal, such as a stack that is too large,
//     and panics of libraries in goroutines of their own.
//     `TestRestartAfterCrash`
package guard
