package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/integration/latefs"
)

func main() {
	if err := start(os.Args); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start is the benchmark, or the server that it starts of itself.
func start(args []string) error {
	switch {
	case len(args) == 4 && args[1] == serveMemory:
		return serveFromMemory(args[2], args[3])
	case len(args) > 1 && args[1] == serveLate:
		return latefs.Run(args[2:], os.Stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return measure(ctx, args[1:], os.Stdout, os.Stderr)
}

// garbage is how much of it may collect, in percent of what is in use: little beside the
// array of all voxels, so that decoding finds memory that is warm.
const garbage = 5

// measure runs the benchmark and prints its table, also of what was done before it failed.
func measure(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	began := time.Now()
	b := bench{cubes: map[string]*cube{}, say: func(format string, args ...any) {
		fmt.Fprintf(stderr, "%4.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}}
	report, err := b.flags(args, stderr)
	if err != nil {
		return err
	}
	done, err := b.run(ctx)
	if len(done) == 0 {
		return cmp.Or(err, b.leftOut, errors.New("no job has such a name"))
	}
	about := strings.Join(b.about(ctx), "; ")
	fmt.Fprintf(stdout, "%s\n\n", about)
	err = errors.Join(err, printTable(stdout, done))
	if report != "" {
		err = errors.Join(err, writeReport(report, about, done))
	}
	return err
}

// about returns where the figures come from, and what the table leaves out.
func (b *bench) about(ctx context.Context) []string {
	all := describeMachine(ctx, b.program)
	if b.before != "" {
		all = append(all, "before: "+version(ctx, []string{b.before, "version"}))
	}
	all = append(all, b.notes...)
	if b.leftOut != nil {
		all = append(all, b.leftOut.Error())
	}
	return all
}

// flags reads the command line, and returns the file that a report goes to.
func (b *bench) flags(args []string, stderr io.Writer) (report string, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.dir, "dir", cmp.Or(os.Getenv("BENCH_DIR"), "/var/tmp/wkwfs-bench"), "directory of the data, kept for the next time (BENCH_DIR)")
	program := set.String("wkwfs", "bin/wkwfs", "the program to be measured")
	before := set.String("before", "", "another wkwfs, measured in the same rounds")
	set.StringVar(&b.refdata, "refdata", cmp.Or(os.Getenv("WKWFS_REFDATA"), "../shared/refdata"), "directory of datasets that other programs wrote (WKWFS_REFDATA)")
	set.IntVar(&b.cache, "cache", 1024, "memory for decoded blocks in MiB, where a job does not ask for another")
	set.IntVar(&b.rounds, "rounds", 5, "how often each contender has its turn")
	only := set.String("run", "", "do the jobs whose names match this regular expression")
	small := set.Bool("tiny", false, "little data: to see that the benchmark works")
	set.StringVar(&report, "json", "", "file for all figures of all rounds")
	if err := set.Parse(args); err != nil {
		return "", err
	}
	if b.rounds < 1 || b.cache < 1 || set.NArg() > 0 {
		return "", fmt.Errorf("rounds %d, cache %d, arguments %q: expected at least 1, at least 1, none", b.rounds, b.cache, set.Args())
	}
	b.sizes = usual
	if *small {
		b.sizes = tiny
	}
	if b.only, err = regexp.Compile(*only); err != nil {
		return "", err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return "", err
	}
	if b.program, err = findProgram(*program); err == nil && *before != "" {
		b.before, err = findProgram(*before)
	}
	return report, err
}
