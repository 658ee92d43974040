// Package vfs defines what files can do beyond [io/fs], and what their errors mean.
//
// It is the second narrow waist of the program. A store (a directory on disk) and a view (a volume laid out
// as files) are both an [fs.FS] whose files implement [io.ReaderAt]. The abilities in this package are
// optional, each with a fallback, like [fs.ReadDirFS]. Servers (FUSE, HTTP, copying) use the functions of
// this package and do not know which fs.FS they serve.
package vfs
