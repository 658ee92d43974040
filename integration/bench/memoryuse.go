package main

// allowance is the memory in MiB that a server may use beyond the budget of its cache.
const allowance = 128

// memoryRow returns the largest memory beyond the cache that a measured wkwfs used in any job. It returns no
// outcome if none was measured.
func memoryRow(done []outcome) []outcome {
	o := outcome{job: job{
		name:    "memory beyond the cache, in all jobs",
		figures: []figure{{"MiB", []bound{atMost(allowance, "")}}},
	}}
	var largest int64
	for _, d := range done {
		for i, turns := range d.turns {
			for _, t := range turns {
				if over := t.peak - t.budget; t.budget > 0 && (len(o.turns) == 0 || over > largest) {
					largest = over
					o.contenders = []contender{{name: d.contenders[i].name + ", " + d.name}}
					o.turns = [][]turn{{{values: []float64{float64(over) / (1 << 20)}, peak: t.peak}}}
				}
			}
		}
	}
	if len(o.turns) == 0 {
		return nil
	}
	return []outcome{o}
}
