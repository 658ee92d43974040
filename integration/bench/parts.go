package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/volume"
)

// simulatedParts is the number of parts of a simulated check, and of the processors that do one each.
const simulatedParts = 1000

// checkInParts simulates a check of a mag with as many cubes as names has, each with about as much work as E. It measures both on one
// processor: what a part costs before its work, because it lists all cubes, and the work of one cube. The figure is the time of the slowest
// part, compared with an equal share of all work.
func (b *bench) checkInParts(limit float64) job {
	return job{
		name:    "check in 1,000 parts, simulated",
		figures: []figure{{"× an equal share", []bound{atMost(limit, "")}}, {unit: "s before the work"}, {unit: "s for E"}},
		setup: func(ctx context.Context) ([]contender, error) {
			names, err := b.names(ctx)
			if err != nil {
				return nil, err
			}
			one, err := b.sizes.em().make(ctx, b.dir, b.progress)
			return []contender{{name: "wkwfs", turn: func(ctx context.Context) (turn, error) { return b.simulateParts(ctx, names, one) }}}, err
		},
	}
}

func (b *bench) simulateParts(ctx context.Context, names, one mag) (t turn, err error) {
	if err := cacheFiles(ctx, one.files()); err != nil {
		return t, err
	}
	before, err := b.timeCheck(ctx, names, "--part", batch.Part{I: simulatedParts, N: simulatedParts}.String())
	work, err2 := b.timeCheck(ctx, one)
	if err := errors.Join(err, err2); err != nil {
		return t, err
	}
	largest, equal := shareCubes(usual.many)
	t.values = []float64{(before + largest*work) / (equal * work), before, work}
	return t, nil
}

// timeCheck returns the seconds that a check takes on one processor.
func (b *bench) timeCheck(ctx context.Context, m mag, flags ...string) (float64, error) {
	cmd := command(ctx, b.program, append([]string{"check", m.dir}, flags...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	start := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", cmd, err, output)
	}
	return time.Since(start).Seconds(), nil
}

// shareCubes divides the cubes of a mag into parts. A cube has between half and three halves of the usual stored bytes, at random. It returns
// the largest part and an equal share, in usual cubes.
func shareCubes(cubes volume.Vec) (largest, equal float64) {
	const usualBytes = 1 << 20
	random := rand.New(rand.NewPCG(1, 2))
	plan := batch.NewPlan()
	total := int64(0)
	for c := range (volume.Box{Max: cubes}).All() {
		n := usualBytes/2 + random.Int64N(usualBytes)
		plan.Add(cubeName(c), n)
		total += n
	}
	most := int64(0)
	for i := range simulatedParts {
		most = max(most, plan.Cut(batch.Part{I: i + 1, N: simulatedParts}).Bytes)
	}
	return float64(most) / usualBytes, float64(total) / usualBytes / simulatedParts
}
