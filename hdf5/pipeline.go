package hdf5

import (
	"bytes"
	"fmt"
)

// maxFilters is the most that a pipeline may have.
const maxFilters = 32

// Filter is a step of the pipeline of a dataset (IV.A.2.l).
type Filter struct {
	ID     uint16
	Name   string
	Flags  uint16   // bit 0: the writer may have left it out of a chunk
	Client []uint32 // its parameters
}

// readFilters reads a filter pipeline.
func readFilters(c *cursor) []Filter {
	version := c.expect("version", 1, 2)
	n := int(c.u8("number of filters"))
	if version == 1 {
		c.skip(6)
	}
	if n > maxFilters {
		c.bad("number of filters", fmt.Sprintf("at most %d", maxFilters), n)
	}
	var all []Filter
	for range n {
		if c.err != nil {
			return nil
		}
		all = append(all, readFilter(c, version))
	}
	return all
}

func readFilter(c *cursor, version uint8) Filter {
	p := Filter{ID: c.u16("filter")}
	named := 0
	if version == 1 || p.ID >= 256 {
		named = int(c.u16("length of the name"))
	}
	p.Flags = c.u16("flags")
	n := int(c.u16("number of values"))
	if version == 1 {
		named = (named + 7) &^ 7
	}
	name, _, _ := bytes.Cut(c.take(named, "name"), []byte{0})
	p.Name = string(name)
	if 4*n > c.left() {
		c.bad("number of values", fmt.Sprintf("at most %d", c.left()/4), n)
		return p
	}
	for range n {
		p.Client = append(p.Client, c.u32("value"))
	}
	if version == 1 && n%2 != 0 {
		c.skip(4)
	}
	return p
}
