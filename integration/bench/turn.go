package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// work is what a reader does with a flat file. It returns the result.
type work func(ctx context.Context, r reading) (turn, error)

// reading is a flat file that is ready to be read.
type reading struct {
	path string
	pid  int // process of the server; 0: there is none
}

// read returns a contender for each peer.
func read(peers []peer, s state, do work) []contender {
	var contenders []contender
	for _, p := range peers {
		contenders = append(contenders, p.reads(s, do))
	}
	return contenders
}

// reads returns the contender that does the work through a peer, in a state of the page cache.
func (p peer) reads(s state, do work) contender {
	if s == cold && p.absent == "" {
		p.absent = cannotDrop()
	}
	return contender{p.name, p.absent, p.older, func(ctx context.Context) (t turn, err error) {
		if err := cacheFiles(ctx, p.stored); err != nil {
			return t, err
		}
		m, path, err := p.open(ctx)
		if err != nil {
			return t, err
		}
		r := reading{path: path}
		if m != nil {
			defer func() { err = errors.Join(err, m.close()) }()
			r.pid = m.pid()
		}
		if err := prepare(ctx, s, path); err != nil {
			return t, err
		}
		t, err = r.measure(ctx, do)
		t.budget = int64(p.budget) << 20
		return t, err
	}}
}

// prepare brings the page cache into a state for a file of a mount. The stored files are in the page cache
// before.
func prepare(ctx context.Context, s state, path string) error {
	switch s {
	case cold:
		return dropCaches()
	case warm:
		return cacheFiles(ctx, []string{path})
	}
	return nil
}

// measure does the work and adds the server's CPU time and memory.
func (r reading) measure(ctx context.Context, do work) (turn, error) {
	var t turn
	cpu, err := r.serverTime(func() (err error) {
		t, err = do(ctx, r)
		return err
	})
	if err != nil || r.pid == 0 {
		return t, err
	}
	t.cpu += cpu
	t.peak, err = peakMemory(r.pid)
	return t, err
}

// serverTime returns the CPU time of the server during a call in seconds, or 0 if there is no server.
func (r reading) serverTime(do func() error) (float64, error) {
	if r.pid == 0 {
		return 0, do()
	}
	before, err := processTime(r.pid)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := processTime(r.pid)
	return after - before, err
}

// dd reads the whole file and measures GB/s. ddDirect does that past the page cache.
func dd(ctx context.Context, r reading) (turn, error)       { return runDD(ctx, r) }
func ddDirect(ctx context.Context, r reading) (turn, error) { return runDD(ctx, r, "iflag=direct") }

func runDD(ctx context.Context, r reading, flags ...string) (turn, error) {
	info, err := os.Stat(r.path)
	if err != nil {
		return turn{}, err
	}
	cmd := command(ctx, "dd", append([]string{"if=" + r.path, "of=/dev/null", "bs=1M"}, flags...)...)
	start := time.Now()
	output, err := cmd.CombinedOutput()
	seconds := time.Since(start).Seconds()
	if err != nil {
		return turn{}, fmt.Errorf("dd %s: %w\n%s", r.path, err, output)
	}
	state := cmd.ProcessState
	return turn{
		values: []float64{float64(info.Size()) / 1e9 / seconds},
		bytes:  info.Size(),
		cpu:    (state.UserTime() + state.SystemTime()).Seconds(),
	}, nil
}
