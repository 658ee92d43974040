package copier

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// A plan keeps a limited number of files in memory, of about 200 bytes each. If more than maxPlanned are likely to be
// in the part, the source is listed again.
const (
	fewPlanned = 1 << 14 // all files are kept, likely or not
	maxPlanned = 1 << 17
)

// shareOf plans the files of a walk, and returns a walk over those of the part. Directories that cannot be listed are
// in every part.
func (c *copier) shareOf(walk iter.Seq[item]) (iter.Seq[item], error) {
	type weight struct {
		item
		unit   string
		bytes  int64
		shared bool // there are other files of the unit
	}
	weigh := func(i item) weight {
		if i.err != nil {
			return weight{item: i}
		}
		info, err := i.stat()
		if err != nil {
			return weight{item: i, unit: unitOf(i.name, nil)} // the part that has it reports why
		}
		i.planned = true
		return weight{i, unitOf(i.name, info), storedBytes(i.name, info), containerOf(info) != ""}
	}
	plan, shared := batch.NewPlan(), false
	var kept []weight
	all := true
	for w := range parallel.InOrder(walk, c.Depth, weigh) {
		if w.unit != "" {
			plan.Add(w.unit, w.bytes)
		}
		shared = shared || w.shared
		if len(kept) < c.fewPlanned || len(kept) <= maxPlanned && (w.unit == "" || batch.Likely(c.Part, w.unit)) {
			kept = append(kept, w)
		} else {
			all = false
		}
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	share := plan.Cut(c.Part)
	if all || len(kept) <= maxPlanned && share.AllLikely(c.Part) {
		kept = slices.DeleteFunc(kept, func(w weight) bool { return w.unit != "" && !share.Has(w.unit) })
		return func(yield func(item) bool) {
			for _, w := range kept {
				if c.ctx.Err() != nil || !yield(w.item) {
					return
				}
			}
		}, nil
	}
	has := func(i item) bool { return i.err != nil || share.Has(unitOf(i.name, nil)) }
	if shared {
		has = func(i item) bool {
			unit := weigh(i).unit
			return unit == "" || share.Has(unit)
		}
	}
	return c.filter(walk, has), nil
}

// filter yields the items that has reports true for. It asks for several at a time.
func (c *copier) filter(walk iter.Seq[item], has func(item) bool) iter.Seq[item] {
	type answer struct {
		item
		has bool
	}
	return func(yield func(item) bool) {
		for a := range parallel.InOrder(walk, c.Depth, func(i item) answer { return answer{i, has(i)} }) {
			if a.has && !yield(a.item) {
				return
			}
		}
	}
}

// unitOf returns a name of what is not divided between parts: a cube with all its blocks, a shard with all its chunks,
// or a file. info may be nil if no file has a container.
func unitOf(name string, info fs.FileInfo) string {
	if container := containerOf(info); container != "" {
		return path.Join(path.Dir(name), container)
	}
	cube, _, found := strings.Cut(name, tree.Blocks+"/")
	if found {
		return cube + tree.Raw
	}
	return name
}

// containerOf returns the stored file that a file shares with others; empty: none.
func containerOf(info fs.FileInfo) string {
	if cube := vfs.DetailsOf(info).Source; cube != nil {
		if container := vfs.DetailsOf(cube).Source; container != nil {
			return container.Name()
		}
	}
	return ""
}

// storedBytes returns the length of the stored file that a file is made of. Unlike its allocation, it is the same on
// all machines. For a file that is made of a whole mag, it is the length of the file itself.
func storedBytes(name string, info fs.FileInfo) int64 {
	if _, ofMag := tree.MagOf(name); ofMag {
		return info.Size()
	}
	if source := vfs.DetailsOf(info).Source; source != nil {
		return source.Size()
	}
	return info.Size()
}

// stagingOf returns the directory of the incomplete files of a part on a machine. Machines do not write the same file:
// not every network file system has locks between machines.
func stagingOf(part batch.Part, node string) string {
	return path.Join(fmt.Sprintf(".wkwfs-part-%d-of-%d", part.I, part.N), node)
}

// thisNode returns a name of this machine, the same in all containers. It changes when the machine is started again,
// which also ends all locks.
func thisNode() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if id := strings.TrimSpace(string(boot)); err == nil && fs.ValidPath(id) {
		return id
	}
	if name, err := os.Hostname(); err == nil && fs.ValidPath(name) {
		return strings.ReplaceAll(name, "/", "-")
	}
	return "unknown"
}

// removeStaging removes the directory of incomplete files of the part, on all machines, unless files could not be
// copied. Another process of the same part then finds its files complete.
func (c *copier) removeStaging() error {
	if c.staging == "" || c.Stats.FailedFiles.Load() > 0 {
		return nil
	}
	err := c.dst.RemoveAll(path.Dir(c.staging))
	// another process is just writing there: it removes the directory when it ends
	if errors.Is(err, syscall.ENOTEMPTY) {
		err = nil
	}
	return destination(err)
}
