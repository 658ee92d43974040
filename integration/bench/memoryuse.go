package main

// allowance is the MiB that a server may use beyond the budget of its cache.
const allowance = 128

// memoryOf is, of each job that was done, the most memory that a server of ours used
// beyond its cache.
func memoryOf(done []outcome) []outcome {
	o := outcome{job: job{
		name:    "memory beyond the cache, in all jobs",
		figures: []figure{{"MiB", []bound{atMost(allowance, "")}}},
	}}
	var most int64
	for _, d := range done {
		for i, turns := range d.turns {
			for _, t := range turns {
				if over := t.peak - t.budget; t.budget > 0 && (len(o.turns) == 0 || over > most) {
					most = over
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
