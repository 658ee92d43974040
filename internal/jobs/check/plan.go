package check

import (
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// singleName is the name of the cube of a source that is one cube, in a plan.
const singleName = "."

// planned is what is known of a mag after it was listed for the plan. So it need not be listed again.
type planned struct {
	cubes []volume.Vec // at least those that this part probably checks
	all   bool         // cubes has all
	box   volume.Box   // of all cubes
}

// A plan keeps a limited number of cubes in memory, of 24 bytes each. If more than maxPlanned are likely to be in the
// part, mags are listed again.
const (
	fewPlanned = 1 << 16 // of a mag: all cubes are kept, likely or not
	maxPlanned = 1 << 20 // of all mags
)

// plan sets the share of the cubes that this part checks. It looks up all cubes of the source. What it cannot list is
// not in the plan; walk reports it.
func (c *checker) plan(root volume.Root) error {
	plan := batch.NewPlan()
	if root.Cube != nil {
		info, err := root.Cube.Stat()
		plan.Add(singleName, storedBytes(info, err))
	}
	kept, n, all := map[string]planned{}, 0, true
	for m, err := range mags(root) {
		if err != nil {
			continue
		}
		p, complete := c.planMag(plan, m)
		all = all && p.all
		if n += len(p.cubes); complete && n <= maxPlanned {
			kept[m.Path] = p
		}
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	share := plan.Cut(c.Part)
	c.share = &share
	if all || share.AllLikely(c.Part) {
		c.kept = kept
	}
	c.Stats.Plan = plan.Fingerprint()
	c.Stats.Found.Store(share.Items)
	c.Stats.Counted.Store(true)
	return nil
}

// planMag adds the cubes of a mag. complete reports that it could list all.
func (c *checker) planMag(plan *batch.Plan, m magAt) (p planned, complete bool) {
	p.all, complete = true, true
	cubes := func(yield func(volume.Vec) bool) {
		for at, err := range volume.AllCubes(m.Mag) {
			if err != nil {
				complete = false
			}
			if c.ctx.Err() != nil || err == nil && !yield(at) {
				return
			}
		}
	}
	size := func(at volume.Vec) int64 {
		info, err := m.StatCubes(at[2], at[1], at[0])
		return storedBytes(info, err)
	}
	for at, bytes := range parallel.EachOf(cubes, size) {
		name := m.nameOf(at)
		plan.Add(name, bytes)
		p.box = p.box.Union(at.BoxOfOne())
		switch {
		case len(p.cubes) < fewPlanned, len(p.cubes) <= maxPlanned && batch.Likely(c.Part, name):
			p.cubes = append(p.cubes, at)
		default:
			p.all = false
		}
	}
	return p, complete
}

// has reports whether this part checks the cube with a name in the plan.
func (c *checker) has(name string) bool { return c.share == nil || c.share.Has(name) }

// nameOf returns the name of a cube in a plan: that of the stored file.
func (m magAt) nameOf(at volume.Vec) string {
	if storedIn := volume.IndexOf(m.Mag).StoredIn; storedIn != nil {
		if name := storedIn(at); name != "" {
			return m.Path + "/" + name
		}
	}
	return m.Path + "/" + at.String()
}

// storedBytes returns the length of what is stored. Unlike its allocation, it is the same on all machines.
func storedBytes(info fs.FileInfo, err error) int64 {
	if err != nil {
		return 0 // the part that has it reports why
	}
	return info.Size()
}
