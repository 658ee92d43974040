package hdf5

import "io"

// Object is a *Group, a *Dataset or a *NamedType.
type Object interface {
	// Path returns the path by which the object was found. It begins with a slash.
	Path() string
	// Address returns the address of the object's header. It identifies the object in its file.
	Address() uint64
	// Attribute returns the attribute of a name, and whether there is one.
	Attribute(name string) (*Attribute, bool, error)
	// Attributes returns all attributes, by name.
	Attributes() ([]*Attribute, error)
}

// File is an open HDF5 file.
type File struct{}

// Open finds the superblock of a file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) { panic("") }

// Root returns the root group.
func (f *File) Root() (*Group, error) { panic("") }

// OpenForWriting reports whether a writer left the file open, or has it open now.
func (f *File) OpenForWriting() bool { panic("") }

// UserBlock returns the bytes before the superblock.
func (f *File) UserBlock() int64 { panic("") }

// Lookup returns the object of a path. Elements are separated by slashes.
func (f *File) Lookup(path string) (Object, error) { panic("") }

// AtAddress returns the object with its header at an address, as of an object reference. Path names it in messages.
func (f *File) AtAddress(address uint64, path string) (Object, error) { panic("") }

// Group is a group.
type Group struct{ object }

// Names returns the names of all links, sorted.
func (g *Group) Names() ([]string, error) { panic("") }

// Lookup returns the object of a path below the group.
func (g *Group) Lookup(name string) (Object, error) { panic("") }

// NamedType is a committed datatype.
type NamedType struct {
	object
}

// Type returns the datatype.
func (n *NamedType) Type() Datatype { panic("") }

type object struct{}

func (o *object) Path() string    { panic("") }
func (o *object) Address() uint64 { panic("") }

// Attribute implements [Object].
func (o *object) Attribute(name string) (*Attribute, bool, error) { panic("") }

// Attributes implements [Object].
func (o *object) Attributes() ([]*Attribute, error) { panic("") }

// Attribute is an attribute of an object.
type Attribute struct {
	Name  string
	Type  Datatype
	Shape []uint64 // slowest axis first; empty if it is one value
	Null  bool     // it has no value
}

// Ints returns the values of integers, enumerations and booleans. Values above 2^63 − 1 are an error.
func (a *Attribute) Ints() ([]int64, error) { panic("") }

// Floats returns the values of integers and floats.
func (a *Attribute) Floats() ([]float64, error) { panic("") }

// Strings returns the values of strings of fixed and variable length.
func (a *Attribute) Strings() ([]string, error) { panic("") }

// References returns the addresses of object references.
func (a *Attribute) References() ([]uint64, error) { panic("") }

// Layout says how a dataset is stored (IV.A.2.i).
type Layout uint8

// The layouts.
const (
	Compact    Layout = 0 // in the header
	Contiguous Layout = 1 // in one piece of the file
	Chunked    Layout = 2
	Virtual    Layout = 3 // in other datasets
)

// Filter is a step of the pipeline of a dataset (IV.A.2.l).
type Filter struct {
	ID     uint16
	Name   string
	Flags  uint16   // 1: the writer may have left it out of a chunk
	Client []uint32 // its parameters
}

// Dataset is a dataset.
type Dataset struct{ object }

// Type returns the datatype of the values.
func (d *Dataset) Type() Datatype { panic("") }

// Shape returns the size, the slowest axis first.
func (d *Dataset) Shape() []uint64 { panic("") }

// MaxShape returns how far the dataset may grow. An axis without a limit has [Unlimited].
func (d *Dataset) MaxShape() []uint64 { panic("") }

// Unlimited is the greatest size of an axis that may grow without a limit.
const Unlimited = ^uint64(0)

// ChunkShape returns the size of a chunk, or nil.
func (d *Dataset) ChunkShape() []uint64 { panic("") }

// ChunkBytes returns the decoded bytes of a chunk. Chunks at the edges have as many as the others.
func (d *Dataset) ChunkBytes() int { panic("") }

// Layout returns how the values are stored.
func (d *Dataset) Layout() Layout { panic("") }

// Filters returns the filters in the order in which the writer applied them.
func (d *Dataset) Filters() []Filter { panic("") }

// Readable returns nil if the values can be read, or what prevents it: external files, a virtual dataset, or a filter.
func (d *Dataset) Readable() error { panic("") }

// FillValue returns the bytes of the value that is not stored, or nil for zeros.
func (d *Dataset) FillValue() []byte { panic("") }

// Contiguous returns where a contiguous dataset lies: an offset and a size in bytes of the reader. Nothing may be allocated.
func (d *Dataset) Contiguous() (offset, size int64, allocated bool) { panic("") }

// Compact returns the bytes of a compact dataset.
func (d *Dataset) Compact() []byte { panic("") }

// Chunks reads the index of chunks.
func (d *Dataset) Chunks() (*ChunkIndex, error) { panic("") }

// DecodeChunk decodes a stored chunk into dst, which has ChunkBytes. mask is that of the chunk.
func (d *Dataset) DecodeChunk(dst, stored []byte, mask uint32) error { panic("") }

// ReadAll returns all values in the order of the file, as they are stored. More than limit bytes are an error.
func (d *Dataset) ReadAll(limit int64) ([]byte, error) { panic("") }

// Chunk says where a chunk is stored: an offset and a size in bytes of the reader. Bit i of FilterMask is set if filter i was left
// out.
type Chunk struct {
	Offset, Size int64
	FilterMask   uint32
}

// ChunkIndex says where the chunks of a dataset are.
type ChunkIndex struct{}

// Lookup returns the chunk at a position, counted in chunks, slowest axis first. It is false if the chunk was never written.
func (x *ChunkIndex) Lookup(scaled []uint64) (Chunk, bool, error) { panic("") }

// All calls yield for every chunk that is stored.
func (x *ChunkIndex) All(yield func(scaled []uint64, c Chunk) bool) error { panic("") }

// Len returns the number of chunks that are stored.
func (x *ChunkIndex) Len() int { panic("") }
