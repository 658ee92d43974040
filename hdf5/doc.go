// Package hdf5 reads HDF5 files. It is written in Go alone, and never writes.
//
// To begin, call [Open] with the bytes of a file. It returns a [File], whose [File.Lookup] finds groups, datasets
// and committed datatypes by their path. A [Dataset] says what its values are and where they lie: in one piece of
// the file, in the header of the dataset, or in chunks, which [Dataset.Chunks] finds and [Dataset.DecodeChunk]
// decodes. [Dataset.ReadAll] does all of this for small datasets.
//
// The specification is the HDF5 File Format Specification, version 3.0, which also covers what version 2.0 of the
// library writes. Comments cite its sections, such as III.A.1. Sizes of a dataset are in the order of the file: the
// slowest axis first.
//
// # What it reads
//
//   - Superblocks 0 to 3, user blocks, addresses and lengths of 2, 4 and 8 bytes, object headers 1 and 2,
//     shared messages.
//   - Groups with symbol tables, with links in the header, and with links in a fractal heap. Hard and soft links.
//   - Layouts 1 to 5: compact, contiguous and chunked, with every index of chunks.
//   - The filters deflate, shuffle, fletcher32, scale-offset, n-bit, and of the registered ones bzip2, LZF, Blosc, LZ4,
//     bitshuffle and zstd.
//   - Attributes of numbers, strings, enumerations and booleans, wherever they are stored.
//
// External links, external files, virtual datasets, multi-file drivers and the filter szip are refused: their error
// is a [*NotSupportedError]. The values of compounds, variable length sequences and references are not converted.
//
// # Absence and damage
//
// An absent chunk has the fill value. A chunk, an index or a header that exists and cannot be read
// is a [*FormatError], which names the object, its address and the field. It concerns only what depends on the
// damaged bytes. Checksums are verified. Memory and time are bounded by the size of the file and by limits, not by
// numbers in it.
//
// # Indexes
//
// The index of at most 2^20 chunks is read once, as a whole. Of a larger one, only the nodes and pages on the way to a
// chunk are read, and those that were used last are kept, about 1 MiB. Chunks that share bytes are damage; in a larger
// index, this is seen if they are in the same node or page.
//
// # Concurrency
//
// All methods may be called by many goroutines at once, if the reader may. Metadata are read in pages, which are
// cached.
package hdf5
