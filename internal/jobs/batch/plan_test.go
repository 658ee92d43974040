package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// item is an item of a test.
type item struct {
	name  string
	bytes int64
}

// cubes returns items that are named like cubes.
func cubes(n int, bytes func(i int) int64) []item {
	all := make([]item, n)
	for i := range all {
		all[i] = item{fmt.Sprintf("color/1/z%d/y%d/x%d", i/400, i/20%20, i%20), bytes(i)}
	}
	return all
}

func planOf(items []item) *Plan {
	p := NewPlan()
	for _, i := range items {
		p.Add(i.name, i.bytes)
	}
	return p
}

// TestSharesAreDisjoint: each item is in exactly one share, whatever the sizes are, and however many parts there are.
// Shares count what they have.
func TestSharesAreDisjoint(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, items := range map[string][]item{
		"none":   nil,
		"one":    cubes(1, func(int) int64 { return 7 }),
		"empty":  cubes(50, func(int) int64 { return 0 }),
		"equal":  cubes(1000, func(int) int64 { return 1 << 20 }),
		"giant":  cubes(30, func(i int) int64 { return 1 + int64(i/29)<<50 }),
		"mixed":  cubes(3000, func(int) int64 { return random.Int64N(1 << 24) }),
		"larger": cubes(9, func(int) int64 { return math.MaxInt64 / 10 }),
	} {
		plan := planOf(items)
		for _, n := range []int{1, 2, 3, 7, 200} {
			owners := make(map[string]int)
			for i := range n {
				s := plan.Cut(Part{i + 1, n})
				var count, bytes int64
				for _, it := range items {
					if s.Has(it.name) {
						owners[it.name]++
						count++
						bytes += max(it.bytes, 1)
					}
				}
				if s.Items != count || s.Bytes != bytes {
					t.Fatalf("%s: part %d/%d says %d items with %d bytes, and has %d with %d", name, i+1, n, s.Items,
						s.Bytes, count, bytes)
				}
			}
			for _, it := range items {
				if owners[it.name] != 1 {
					t.Fatalf("%s: %s is in %d of %d parts", name, it.name, owners[it.name], n)
				}
			}
		}
	}
}

// TestNewItems: an item that appears after a plan was made is in exactly one share, too.
func TestNewItems(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	for _, n := range []int{0, 1, 20, 5000} {
		plan := planOf(cubes(n, func(i int) int64 { return int64(i) }))
		var shares []Share
		for i := range 50 {
			shares = append(shares, plan.Cut(Part{i + 1, 50}))
		}
		for i := range 3000 {
			owners := 0
			for _, s := range shares {
				if s.Has(fmt.Sprint("new", i)) {
					owners++
				}
			}
			if owners != 1 {
				t.Fatalf("of %d items: a new one is in %d shares", n, owners)
			}
		}
	}
}

// TestSharesAreEqual: of 1,000 parts, the largest and the smallest have at most 5 % more or less than an equal share.
func TestSharesAreEqual(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	random := rand.New(rand.NewPCG(3, 4))
	const n = 1000
	for name, items := range map[string][]item{
		"equal": cubes(40*n, func(int) int64 { return 30 << 20 }),
		"mixed": cubes(100*n, func(int) int64 { return 1<<20 + random.Int64N(63<<20) }),
		// Half of the dataset is black, and compresses to little.
		"black": cubes(100*n, func(i int) int64 { return []int64{64 << 10, 40 << 20}[i/(50*n)] }),
		"many":  cubes(400*n, func(int) int64 { return 100 + random.Int64N(1000) }),
	} {
		plan := planOf(items)
		var total, least, most int64 = 0, math.MaxInt64, 0
		for i := range n {
			s := plan.Cut(Part{i + 1, n})
			total += s.Bytes
			least, most = min(least, s.Bytes), max(most, s.Bytes)
		}
		equal := float64(total) / n
		t.Logf("%s: %.2f %% to %.2f %% of an equal share", name, 100*float64(least)/equal, 100*float64(most)/equal)
		if float64(most) > 1.05*equal || float64(least) < 0.95*equal {
			t.Errorf("%s: parts of %d to %d bytes, an equal share has %.0f", name, least, most, equal)
		}
	}
}

// TestLikely: of many items, those of a share are likely, and few others. If AllLikely reports so, no item of a share
// is unlikely.
func TestLikely(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 3, 100, 50_000} {
		items := cubes(n, func(int) int64 { return random.Int64N(64 << 20) })
		plan := planOf(items)
		for _, parts := range []int{0, 1, 2, 7, 1000} {
			for i := range max(parts, 1) {
				part := Part{min(i+1, parts), parts}
				s := plan.Cut(part)
				all := s.AllLikely(part)
				if !all && (n == 50_000 || parts < 2) {
					t.Errorf("%d items, part %v: %v is not likely", n, part, s)
				}
				found := 0
				for _, it := range items {
					likely := Likely(part, it.name)
					if likely {
						found++
					}
					if all && s.Has(it.name) && !likely {
						t.Fatalf("%d items, part %v: %s is in the share and not likely", n, part, it.name)
					}
				}
				if n == 50_000 && parts == 1000 && found > n/40 {
					t.Fatalf("part %v: %d of %d items are likely", part, found, n)
				}
				if i == 9 {
					break // enough
				}
			}
		}
	}
}

// TestPlanInAnyOrder: plans of the same items are the same in any order. Other items, or other bytes, make another
// plan.
func TestPlanInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	items := cubes(5000, func(i int) int64 { return int64(i) * 1000 })
	plan := planOf(items)
	shuffled := slices.Clone(items)
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(shuffled),
		func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	other := planOf(shuffled)
	if plan.Fingerprint() != other.Fingerprint() {
		t.Error("another order gives another fingerprint")
	}
	for i := range 9 {
		if a, b := plan.Cut(Part{i + 1, 9}), other.Cut(Part{i + 1, 9}); a != b {
			t.Errorf("part %d/9: %v and %v", i+1, a, b)
		}
	}
	prints := map[string]bool{plan.Fingerprint(): true}
	for range 100 {
		changed := slices.Clone(items)
		changed[len(prints)].bytes++
		prints[planOf(changed).Fingerprint()] = true
	}
	prints[planOf(items[1:]).Fingerprint()] = true
	if len(prints) != 102 {
		t.Errorf("%d fingerprints of 102 plans", len(prints))
	}
}

// TestPlanIsTheSameEverywhere: tasks on machines with other processors and other releases make the same plan.
func TestPlanIsTheSameEverywhere(t *testing.T) {
	plan := planOf(cubes(100, func(i int) int64 { return int64(i) }))
	got := fmt.Sprint(plan.Fingerprint(), plan.Cut(Part{2, 3}))
	if want := "5a69db790b330189{255038 744892 40 1693}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
