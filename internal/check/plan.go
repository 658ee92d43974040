package check

import (
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/batch"
	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// singleName is the name of the cube of a source that is one cube, in a plan.
const singleName = "."

// plan sets the share of the cubes that this part checks. It looks up all cubes of the source. What it cannot list is not in the
// plan; walk reports it.
func (c *checker) plan(root volume.Root) error {
	plan := batch.NewPlan()
	if root.Cube != nil {
		info, err := root.Cube.Stat()
		plan.Add(singleName, storedBytes(info, err))
	}
	for m, err := range mags(root) {
		if err == nil {
			c.planMag(plan, m)
		}
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	share := plan.Cut(c.Part)
	c.share = &share
	c.Stats.Plan = plan.Fingerprint()
	c.Stats.Found.Store(share.Items)
	c.Stats.Counted.Store(true)
	return nil
}

// planMag adds the cubes of a mag.
func (c *checker) planMag(plan *batch.Plan, m magAt) {
	cubes := func(yield func(volume.Vec) bool) {
		for at, err := range volume.AllCubes(m.Mag) {
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
		plan.Add(m.nameOf(at), bytes)
	}
}

// has reports whether this part checks the cube with a name in the plan.
func (c *checker) has(name string) bool { return c.share == nil || c.share.Has(name) }

// nameOf returns the name of a cube in a plan: that of the stored file.
func (m magAt) nameOf(at volume.Vec) string {
	if s, ok := m.Mag.(volume.CubeSharer); ok {
		if name := s.StoredIn(at); name != "" {
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
