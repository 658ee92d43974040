package view

import "testing"

// TestPattern holds who is taken for a reader of the whole file.
func TestPattern(t *testing.T) {
	const k, m = 1 << 10, 1 << 20
	type read struct{ off, n int64 }
	every := func(step, n int64) (reads []read) {
		for i := range int64(100) {
			reads = append(reads, read{i * step, n})
		}
		return reads
	}
	for _, c := range []struct {
		name  string
		reads []read
		flows bool // more than 1 MiB, after the last of them
	}{
		{"nothing", nil, false},
		{"the first MiB", []read{{0, m}}, false},
		{"the first MiB and a byte", []read{{0, m}, {m, 1}}, true},
		{"from the middle", []read{{900 * m, m}, {901 * m, m}}, true},
		{"out of order", []read{{2 * m, m}, {0, m}, {3 * m, m}, {m, m}}, true},
		{"small pieces", every(16*k, 16*k), true},
		{"every other page", every(256*k, 128*k+1), true},
		{"a row of each plane", every(m, 256*k), false},
		{"the same again and again", every(0, 4*k), false},
		{"planes far apart", every(32*m, m), false},
		{"backwards", []read{{90 * m, m}, {60 * m, m}, {30 * m, m}, {0, m}}, false},
		{"a stream, then somewhere else", append(every(m, m), read{800 * m, m}), false},
		{"a stream, then back to the begin", append(every(m, m), read{0, m}, read{m, m}), true},
		{"a long stream, then rows of planes", append(every(m, m), func() (reads []read) {
			for i := range int64(300) {
				reads = append(reads, read{(100 + i) * m, 4 * k})
			}
			return reads
		}()...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p pattern
			for _, r := range c.reads {
				p.note(r.off, r.n, slack)
			}
			if got := p.flows(m); got != c.flows {
				t.Errorf("flows: %v, expected %v; %+v", got, c.flows, p)
			}
		})
	}
}

// TestTrack holds that a reader that was somewhere else is known again as soon as one that begins.
func TestTrack(t *testing.T) {
	const k, m = 1 << 10, 1 << 20
	for _, away := range []int64{2 * m, 13 * m, 800 * m} {
		var tr track
		for i := range int64(50) {
			tr.note(5*m+i*100*k, 100*k, m)
		}
		at := tr.end
		tr.note(at+away, 4*k, m)
		for i := range int64(12) {
			tr.note(at+i*100*k, 100*k, m)
		}
		if !tr.flows(m) {
			t.Errorf("away by %d: not known after 1200 KiB; %+v", away, tr)
		}
	}
	var moved track
	for i := range int64(30) {
		moved.note(i*100*k, 100*k, m)
	}
	moved.move(200 * m)
	if moved.note(3*m+512*k, 4*k, m); moved.flows(m) {
		t.Errorf("one read where a reader was long ago is taken for a stream; %+v", moved)
	}
	var tr track
	for i := range int64(1000) {
		if tr.note(i*m, 64*k, m); tr.flows(m) {
			t.Fatalf("a row of each plane is taken for a stream; %+v", tr)
		}
	}
}
