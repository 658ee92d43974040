package copier

import (
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// dryRun passes the files of a walk to DryRun and Failed, as Copy would copy, keep or refuse them.
func (c *copier) dryRun(walk iter.Seq[item]) {
	type outcome struct {
		item
		info fs.FileInfo // nil: nothing to do
		keep bool
		err  error
	}
	look := func(i item) outcome {
		info, keep, err := c.examine(i)
		if err == nil && !keep {
			err = c.tryRead(i.name)
		}
		return outcome{i, info, keep, err}
	}
	for o := range parallel.InOrder(walk, c.Depth, look) {
		c.Stats.FoundFiles.Add(1)
		switch {
		case o.err != nil:
			c.fail(o.name, o.err)
		case o.info != nil:
			c.DryRun(o.name, o.info.Size(), o.keep)
		}
	}
}

// tryRead opens a file of the source, which fails for what may not be read.
func (c *copier) tryRead(name string) error {
	f, err := c.src.Open(name)
	if err != nil {
		return err
	}
	return f.Close()
}
