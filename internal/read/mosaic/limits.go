package mosaic

// limits bound what a mosaic and its surveys do at a time, and what they keep. Tests make them small, so that small
// mags reach them.
type limits struct {
	complete int   // the most cubes of which a survey keeps the versions. A survey takes some microseconds per cube
	few      int   // the most cubes that are checked one by one
	rows     int   // the most rows of cubes that an index lists. A mag of more rows has no holes
	hole     int64 // the length of the shortest hole that is reported, in bytes
	// how many cubes a mosaic keeps open without users. It keeps fewer if the process has too many open files
	idle int
}

// usual are the limits of all mags.
var usual = limits{complete: 20_000, few: 64, rows: 100_000, hole: 64 << 10, idle: 256}

// announced is the most cubes that an announcement may open. With more of them, the first ones would be closed before
// they are read.
func (l limits) announced() int { return l.idle / 4 }
