package hdf5

// limits bound what a file can cost, whatever its numbers say. Tests shrink them.
type limits struct {
	headerBytes int // of all blocks of an object header
	messages    int // of an object header
	names       int // of links of a group, or of attributes of an object
	nameBytes   int // of these links or attributes
	heapWork    int // bytes of the blocks of a heap that are read, again and again if they have to be
	nodes       int // of one B-tree, or blocks of one heap
	chunks      int // of an index that is in memory
	partChunks  int // of the parts of another one that are in memory
	chunkBytes  int // decoded
	links       int // soft links on the way to an object
	depth       int // elements of a path
	nested      int // datatypes in datatypes
	strings     int // bytes of the variable strings of an attribute
}

var defaultLimits = limits{
	headerBytes: 64 << 20,
	messages:    1 << 20,
	names:       1 << 18,
	nameBytes:   64 << 20,
	heapWork:    1 << 30,
	nodes:       1 << 20,
	chunks:      1 << 20,
	partChunks:  1 << 15,
	chunkBytes:  1 << 30,
	links:       64,
	depth:       1000,
	nested:      32,
	strings:     64 << 20,
}
