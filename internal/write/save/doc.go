// Package save lets programs save whole files over the voxels of a layer that can be written. What they write is
// collected in a temporary file on the disk of the edits, which has no name. When it is complete, it is read as an
// array, and its voxels are written as those of a program that writes in place.
//
// # What programs can do
//
// They can open a file with a header and truncate it, write all of it, with any header that package arrayfile reads,
// and close it: this is what numpy.save, nibabel.save, tifffile.imwrite and ITK do. They can make a file with any name
// in the directory of a mag or in box/, and rename it over a file that can be written: this is what rsync and editors
// do. They can remove a file that can be written, and make it anew, as mv does from another disk. Until then its name
// is hidden, and its voxels are as before.
//
// The file gets its content when a descriptor of it is closed or synced, or it is renamed, and that is durable then. A
// program that closes a copy of its descriptor before the file is complete gets an error, and goes on. The file may be
// compressed. The format has to be that of the name, and size, type and channels those of the file. The axes of an .npy
// are x, y, z, as those of the file are, in any order of bytes: so a program loads what it has saved. Spacing and
// position do not count, and the file keeps its own header. A program that maps a file after it has saved it has to
// read the header again.
//
// A file that is damaged, or another array, is refused with EINVAL, by close, fsync or rename. The log has the reason.
// All of it is read before the first voxel is written, so nothing has changed then.
//
// Files without a header (.raw) that are truncated are written in place, so that volumes of any size can be. What a
// program passes over becomes 0, as in other files.
//
// # What readers see
//
// Until the close, all other opens of a file read what it had before. Only the program that saves reads what it has
// written, through its own descriptor. While the voxels are written at the close, each block is old or new. If the
// server is killed before the close, nothing has changed; if it is killed meanwhile, each block is old or new, and the
// program has not seen the close succeed.
//
// A new file that is never renamed is listed, and can be read within its permissions. It vanishes with the mount, and
// the log has its name. The names of boxes and volumes outside of the layer are refused, so that nobody takes such a
// file for a box.
//
// # Limits
//
// There are up to 1,000 new files, and up to 1 TiB in all files that are being saved; more is ENOSPC, and so is a full
// disk, at the write. Directories, links and devices cannot be made. A file cannot be renamed to a new name if it shows
// voxels.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - What is saved over a file, with any header of its format, becomes its voxels, whatever the shape and size. A file
//     of another array, or that is cut off, changes nothing.
//     `TestSaveAgreesWithModel`, `TestRefusals`
//   - Programs save, copy, move and synchronise files into a mount, and all views have them after the close. Until then
//     they have what was there before, also if the server is killed.
//     `TestEditSave`, `TestEditSaveKill`, `TestClientEdits`
//   - If the disk becomes full while a program saves, the write fails, and nothing has changed.
//     `TestEditSaveFullDisk`
//   - New files are bounded in number and bytes, and nothing of them is left. Names that cannot be made, renamed or
//     removed are refused.
//     `TestBounds`, `TestNames`
package save
