package hdf5

import (
	"fmt"
	"io"
)

// The superblock (II.A).
const (
	signature      = "\x89HDF\r\n\x1a\n"
	firstUserBlock = 512 // bytes; user blocks are this, doubled some times

	superblockBytes = 128 // none is longer

	writeOpen = 1 // flags of superblock 3
	swmrOpen  = 4
)

// superblock has what the superblock and its extension say.
type superblock struct {
	version    uint8
	flags      uint8
	root       uint64
	groupLeafK int // entries of a symbol node: twice this, at most
	groupK     int // children of a node of a group: twice this
	chunkK     int // children of a node of chunks: twice this
	extension  uint64
	end        uint64 // of the file
	driver     uint64
	sharedAt   uint64 // table of shared messages
	sharedN    int    // its indexes
}

// File is an open HDF5 file.
type File struct {
	sizes
	super superblock
	base  int64 // offset of the superblock, from which addresses count
	pages *pages
	limit limits
	heaps globalHeaps
	share []sharedIndex
	root  rootGroup
}

// Open reads the superblock of a file of size bytes. It finds one after a user block.
//
// The reader is kept. Errors of it are returned as they are, wrapped.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{pages: newPages(r, size), limit: defaultLimits, heaps: newGlobalHeaps()}
	if err := f.find(); err != nil {
		return nil, err
	}
	if err := f.readSuperblock(); err != nil {
		return nil, err
	}
	if err := f.readDriver(); err != nil {
		return nil, err
	}
	if err := f.readExtension(); err != nil {
		return nil, err
	}
	return f, f.readShared()
}

// OpenForWriting reports whether a writer has the file open, or died and left it open. What is read may not fit
// together.
func (f *File) OpenForWriting() bool {
	return f.super.version >= 3 && f.super.flags&(writeOpen|swmrOpen) != 0
}

// Truncated reports whether the file has fewer bytes than its superblock says. What lies in the bytes that are there
// can be read.
func (f *File) Truncated() bool {
	return f.super.end != undefined && f.super.end > uint64(f.pages.size)
}

// UserBlock returns the number of bytes before the superblock. They belong to the application.
func (f *File) UserBlock() int64 { return f.base }

// find looks for the signature at 0, 512, 1024, 2048 …
func (f *File) find() error {
	for at := int64(0); at <= f.pages.size-int64(len(signature)); at = max(firstUserBlock, 2*at) {
		b, err := f.pages.read(at, len(signature))
		if err != nil {
			return err
		}
		if string(b) == signature {
			f.base = at
			return nil
		}
	}
	return &FormatError{Field: "signature", Expected: fmt.Sprintf("%q at 0, 512, 1024, …", signature), Found: "none"}
}

func (f *File) readSuperblock() error {
	c, err := f.upTo("superblock", 0, superblockBytes)
	if err != nil {
		return err
	}
	c.skip(len(signature))
	s := &f.super
	s.groupLeafK, s.groupK, s.chunkK = 4, 16, 32 // those of the library
	s.extension, s.driver, s.sharedAt = undefined, undefined, undefined
	s.version = c.expect("version", 0, 1, 2, 3)
	if s.version < 2 {
		f.readOld(c)
	} else {
		f.readNew(c)
	}
	if c.err == nil && s.root == undefined {
		c.bad("address of the root group", "an address", "none")
	}
	return c.err
}

// readOld reads the rest of superblock 0 and 1.
func (f *File) readOld(c *cursor) {
	s := &f.super
	c.skip(4) // versions of what has one version only
	f.readSizes(c)
	c.skip(1)
	s.groupLeafK = int(c.u16("leaf node K of groups"))
	s.groupK = int(c.u16("internal node K of groups"))
	c.skip(4) // flags, without a meaning
	if s.version == 1 {
		s.chunkK = int(c.u16("internal node K of chunks"))
		c.skip(2)
	}
	c.address("base address")
	c.address("free space")
	s.end = c.address("end of the file")
	s.driver = c.address("driver information")
	c.length("name of the root group")
	s.root = c.address("root group")
	if c.err == nil && (s.groupLeafK == 0 || s.groupK == 0 || s.chunkK == 0) {
		c.bad("node K", "1 or more", 0)
	}
}

// readNew reads the rest of superblock 2 and 3.
func (f *File) readNew(c *cursor) {
	s := &f.super
	f.readSizes(c)
	s.flags = c.u8("flags")
	c.address("base address")
	s.extension = c.address("extension")
	s.end = c.address("end of the file")
	s.root = c.address("root group")
	c.sum()
}

func (f *File) readSizes(c *cursor) {
	f.o = int(c.expect("bytes of an address", 2, 4, 8))
	f.l = int(c.expect("bytes of a length", 2, 4, 8))
	c.sizes = f.sizes
}

// readDriver refuses files that are one of several (II.B).
func (f *File) readDriver() error {
	if f.super.driver == undefined {
		return nil
	}
	c, err := f.at("driver information", f.super.driver, 16)
	if err != nil {
		return err
	}
	c.expect("version", 0)
	c.skip(3)
	c.u32("size")
	id := c.take(8, "identification")
	if c.err != nil {
		return c.err
	}
	return notSupported("the driver %q of several files", id)
}

// readExtension reads the object header that superblock 2 and 3 may have (II.C).
func (f *File) readExtension() error {
	if f.super.extension == undefined {
		return nil
	}
	h, err := f.header(f.super.extension)
	if err != nil {
		return err
	}
	for _, m := range h.messages {
		c := f.body(m, "superblock extension")
		switch m.kind {
		case msgTreeK:
			c.expect("version", 0)
			f.super.chunkK = int(c.u16("internal node K of chunks"))
			f.super.groupK = int(c.u16("internal node K of groups"))
			f.super.groupLeafK = int(c.u16("leaf node K of groups"))
			if f.super.chunkK == 0 || f.super.groupK == 0 || f.super.groupLeafK == 0 {
				c.bad("node K", "1 or more", 0)
			}
		case msgSharedTable:
			c.expect("version", 0)
			f.super.sharedAt = c.address("table of shared messages")
			f.super.sharedN = int(c.u8("number of indexes"))
		case msgDriver:
			c.expect("version", 0)
			id := c.take(8, "identification")
			if c.err == nil {
				return notSupported("the driver %q of several files", id)
			}
		case msgCacheImage:
			return notSupported("an image of the metadata cache")
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}
