// Package guard is the boundary of goroutines. A panic that leaves a goroutine ends the program, and with it the mount of
// everybody. Behind a boundary it ends only what the goroutine was doing.
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
//   - the caller waits for several goroutines that do its work: a [Relay] repeats the panic in the goroutine of the caller, whose boundary
//     decides.
//
// The stack of a panic is logged once. The request that fails because of it logs it, because it knows the file ([TakeStack]). If no
// request does that within a second, this package logs it. It also logs it if the work is dropped. [Count] is the number of all
// panics.
//
// A boundary does not undo what the function has done before the panic: locks, memory and references are given back by its deferred
// calls.
//
// The Go runtime ends the program at some faults that are no panics: concurrent writes to a map, a stack of 1 GB, unlocking a mutex
// that is not locked. No boundary stops these. An access to memory that is not mapped is a panic behind a boundary.
package guard
