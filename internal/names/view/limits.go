package view

// limits bound what a tree lists, keeps and puts into a file. Tests make them small, so that small datasets reach them.
type limits struct {
	// listed is the largest number of entries that a directory lists if they are computed, such as slices. A larger
	// directory lists none of them. They can still be opened by name.
	listed int
	// cubes is the number of cubes of all snapshots together, about 40 MB. A mag whose snapshot was evicted gets a new
	// one. Open files keep theirs.
	cubes int64
	// levels is the number of levels that are not searched again.
	levels int64
	// times is the number of times of all states together that are kept, with 16 bytes each.
	times int64
	// fewTimes is the number of times that are compared with the source whenever a file of all of them is opened.
	fewTimes int
	// openTimes is the number of times that such a file has open without a reader.
	openTimes int

	column columnLimits
}

// usual are the limits of all trees.
var usual = limits{listed: 1 << 20, cubes: 1 << 19, levels: 1024, times: 1 << 17, fewTimes: 64, openTimes: 4,
	column: columnLimits{bytes: 128 << 10, wideBytes: 512 << 10, wideBlocks: 4}}

// columnLimits say which columns of blocks are chunks of OME-Zarr: those of up to bytes, decoded, and those of up to
// wideBlocks if these have at most wideBytes. A program that reads all of an array spends most of its time on opening
// files, so larger columns are faster. A program that reads a plane reads the whole columns, so larger columns are
// slower. docs/performance-history.md has figures of both. Types of many bytes are mostly IDs of segments, which
// compress well.
type columnLimits struct{ bytes, wideBytes, wideBlocks int }
