// Package vfstest tests file systems with the abilities of package vfs, as [testing/fstest] tests those of io/fs.
//
// A package calls [Test] once for each of its file systems: it checks listings, reads by every ability, errors and
// their classes, canceling, versions, holes, changes of the source, and closing during reads. [Expect].Has lists the
// abilities that the file system and its files have. One that is lost or gained fails.
//
// A package calls [Forwards] once for each file system, source or cube that is made of another file system. It puts one
// with all abilities inside, [Inside], and fails if one of them is swallowed. A test says with a reason what must not
// be forwarded. Such a line fails when it is no longer true.
//
// To add an ability: an entry in the table of abilities.go, and its method in inside.go. All wrappers are then tested
// with it. If it reads, it also needs a line in reads.go. To add a wrapper or a store: one test in its package that
// calls Forwards or Test.
//
// Test and Forwards start no subtests, so they can be called in a bubble of [testing/synctest].
package vfstest
