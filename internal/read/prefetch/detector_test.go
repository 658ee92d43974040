package prefetch

import "testing"

const k, m = 1 << 10, 1 << 20 // KiB, MiB

type read struct{ off, n int64 }

// reads returns count reads of n bytes whose offsets are step bytes apart.
func reads(start, step, n int64, count int) (all []read) {
	for i := range int64(count) {
		all = append(all, read{start + i*step, n})
	}
	return all
}

func join(lists ...[]read) (all []read) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// swapped swaps the reads in each pair, as the kernel's threads may.
func swapped(all []read) []read {
	for i := 0; i+1 < len(all); i += 2 {
		all[i], all[i+1] = all[i+1], all[i]
	}
	return all
}

// TestSpan checks which reads make a dense span.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads []read
		want  bool // the span is dense with at least 1 MiB after the last read
	}{
		{"nothing", nil, false},
		{"the first MiB", []read{{0, m}}, false},
		{"the first MiB and a byte", []read{{0, m}, {m, 1}}, true},
		{"from the middle", []read{{900 * m, m}, {901 * m, m}}, true},
		{"out of order", []read{{2 * m, m}, {0, m}, {3 * m, m}, {m, m}}, true},
		{"small pieces", reads(0, 16*k, 16*k, 100), true},
		{"every other page", reads(0, 256*k, 128*k+1, 100), true},
		{"a row of each plane", reads(0, m, 256*k, 100), false},
		{"the same again and again", reads(0, 0, 4*k, 100), false},
		{"planes far apart", reads(0, 32*m, m, 100), false},
		{"backwards", []read{{90 * m, m}, {60 * m, m}, {30 * m, m}, {0, m}}, false},
		{"a stream, then somewhere else", append(reads(0, m, m, 100), read{800 * m, m}), false},
		{"a stream, then back to the start", append(reads(0, m, m, 100), read{0, m}, read{m, m}), true},
		{"a long stream, then rows of planes", append(reads(0, m, m, 100), reads(100*m, m, 4*k, 300)...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stretch
			for _, r := range c.reads {
				s.add(r.off, r.n, usual.wideSlack, &usual)
			}
			if got := s.dense(m); got != c.want {
				t.Errorf("dense: %v, expected %v; %+v", got, c.want, s)
			}
		})
	}
}

// TestObserve checks what the detector finds out about the last read of a list. Planes have 4 MiB.
func TestObserve(t *testing.T) {
	const p = 4 * m
	need := p + usual.kernelReadahead
	for _, c := range []struct {
		name  string
		reads []read
		want  observation
	}{
		{"the first page", reads(0, 0, 4*k, 1), observation{needsAgain: true}},
		{"a first read in the first MiB", reads(300*k, 0, 400*k, 1), observation{}},
		{"a first read in the second plane", reads(p, 0, 4*k, 1), observation{}},
		{"the start, too little", reads(0, 64*k, 64*k, 3), observation{needsAgain: true}},
		{"the start, enough", reads(0, 64*k, 64*k, 4), observation{needsAgain: true, sequential: true}},
		{"the start, in 4 KiB pieces", reads(0, 4*k, 4*k, 49), observation{needsAgain: true, sequential: true}},
		{"the start, several reads in flight", swapped(reads(0, 64*k, 64*k, 4)),
			observation{needsAgain: true, sequential: true}},
		{"the start, with gaps", reads(0, 80*k, 64*k, 4), observation{needsAgain: true}},
		{"a plane, too little", reads(3*p, 128*k, 128*k, int(need)/(128*k)), observation{isReadahead: true}},
		{"a plane, enough", reads(3*p, 128*k, 128*k, int(need)/(128*k)+1),
			observation{sequential: true, needsAgain: true}},
		{"a plane, several reads in flight", swapped(reads(3*p, 128*k, 128*k, int(need)/(128*k)+1)),
			observation{sequential: true, needsAgain: true}},
		{"all of a plane", reads(3*p, 128*k, 128*k, p/(128*k)), observation{}},
		{"the middle of a plane", reads(3*p+100*k, 4*k, 4*k, int(need)/(4*k)+1),
			observation{sequential: true, needsAgain: true}},
		{"every other 64 KiB", reads(3*p, 128*k, 64*k, 2*int(need)/(128*k)+2),
			observation{sequential: true, needsAgain: true}},
		{"after a plane", reads(3*p+p/2, 128*k, 128*k, p/2/(128*k)+1), observation{isReadahead: true}},
		{"far after a plane", reads(3*p+3*m, 128*k, 128*k, int(m+usual.kernelReadahead)/(128*k)+1),
			observation{needsAgain: true}},
		{"after a plane that was not read", reads(4*p, 128*k, 128*k, 1), observation{}},
		{"a row of each plane", reads(9*k, p, 4*k, 500), observation{}},
		{"2 MiB of every fifth plane", reads(0, 5*p, 2*m, 10), observation{jumped: true}},
		{"back and forth", join(reads(3*p, 128*k, 128*k, 4), reads(50*p, 128*k, 128*k, 4),
			reads(3*p+m, 128*k, 128*k, 1)), observation{jumped: true}},
		{"backwards", reads(40*p, -p, 64*k, 30), observation{}},
		{"the same page", reads(5*p, 0, 4*k, 1000), observation{}},
		{"sequential, then elsewhere", join(reads(0, 128*k, 128*k, 100), reads(50*p, 0, 4*k, 1)),
			observation{jumped: true}},
		{"sequential, then elsewhere, and back", join(reads(3*p, 128*k, 128*k, 100), reads(50*p, 0, 4*k, 1),
			reads(3*p+100*128*k, 128*k, 128*k, int(need)/(128*k)+1)), observation{sequential: true, needsAgain: true}},
		{"rows of planes after sequential reads", join(reads(0, 128*k, 128*k, 800), reads(25*p, p, 4*k, 40)),
			observation{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, got := detector{limits: &usual, plane: p, head: usual.headLength}, observation{}
			for _, r := range c.reads {
				got = d.observe(r.off, r.n)
			}
			if got != c.want {
				t.Errorf("found %+v, expected %+v; %+v", got, c.want, d)
			}
		})
	}
}

// TestObserveSmallPlanes checks an array whose planes are smaller than the kernel's readahead.
func TestObserveSmallPlanes(t *testing.T) {
	const p = 100 * k
	d := detector{limits: &usual, plane: p}
	for i := range int64(100) {
		got := d.observe((20+i)*p, p)
		if want := (i+1)*p > p+usual.kernelReadahead; got.sequential != want {
			t.Errorf("plane %d: sequential: %v, expected %v", i, got.sequential, want)
		}
		if got.isReadahead {
			t.Errorf("plane %d: isReadahead, but a plane is smaller than the readahead", i)
		}
	}
}

// TestObserveHugePlanes checks that a reader of a plane that is larger than history becomes sequential and stays so.
func TestObserveHugePlanes(t *testing.T) {
	d := detector{limits: &usual, plane: 1 << 30}
	for _, r := range reads(5<<30+m, 128*k, 128*k, 7000) {
		got := d.observe(r.off, r.n)
		if want := r.off+r.n-(5<<30+m) > usual.sequentialLength+usual.kernelReadahead; got.sequential != want {
			t.Fatalf("at %d of its plane: sequential: %v, expected %v; %+v", r.off-5<<30, got.sequential, want, d)
		}
	}
}

// TestReturningReader checks that a reader that read elsewhere becomes sequential again as soon as a new reader does.
func TestReturningReader(t *testing.T) {
	const p = 512 * k
	for _, away := range []int64{2 * m, 13 * m, 800 * m} {
		d, got := detector{limits: &usual, plane: p}, observation{}
		for _, r := range reads(5*m, 100*k, 100*k, 50) {
			got = d.observe(r.off, r.n)
		}
		if !got.sequential {
			t.Fatal("not sequential after 5 MB")
		}
		at := d.wide.end
		d.observe(at+away, 4*k)
		for _, r := range reads(at, 100*k, 100*k, 12) {
			got = d.observe(r.off, r.n)
		}
		if !got.sequential {
			t.Errorf("after a read %d bytes away: not sequential after 1200 KiB; %+v", away, d)
		}
	}
}

// TestSkipTo checks when a sequential reader stays sequential after it found bytes in the page cache.
func TestSkipTo(t *testing.T) {
	for _, c := range []struct {
		name string
		to   read
		want bool // sequential
	}{
		{"reads on", read{200 * m, 64 * k}, true},
		{"reads on, with a gap", read{200*m + 64*k, 64 * k}, true},
		{"returns", read{100 * k, 4 * k}, false},
		{"elsewhere", read{300 * m, 4 * k}, false},
	} {
		d := detector{limits: &usual, plane: m}
		for _, r := range reads(0, 64*k, 64*k, 4) { // just enough at the start of the array
			d.observe(r.off, r.n)
		}
		d.skipTo(200 * m)
		if got := d.observe(c.to.off, c.to.n); got.sequential != c.want {
			t.Errorf("%s: sequential: %v, expected %v; %+v", c.name, got.sequential, c.want, d)
		}
	}
}
