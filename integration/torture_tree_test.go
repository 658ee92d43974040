package integration

import (
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// treeTrial makes random requests to a mount of a random dataset that changes, and compares each answer with a naive
// model, as TestRandom does.
var treeTrial = torture.New("tree",
	func(r *rand.Rand) randomCase { return newRandomCase(r, 400) },
	func(t testing.TB, c randomCase) { c.run(t, 0) },
)

// lateTrial is treeTrial with a source that answers late, as in TestRandomLate.
var lateTrial = torture.New("late",
	func(r *rand.Rand) randomCase { return newRandomCase(r, 60) },
	func(t testing.TB, c randomCase) { c.run(t, shownLate) },
)
