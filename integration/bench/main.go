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

// start runs the benchmark, or a source that answers late.
func start(args []string) error {
	if len(args) > 1 && args[1] == serveLate {
		return latefs.Run(args[2:], os.Stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return measure(ctx, args[1:], os.Stdout, os.Stderr)
}

// garbage is the percentage for debug.SetGCPercent. It is small because the memory of bench.buffer is large. So garbage
// is collected early, and decoding reuses memory that is resident.
const garbage = 5

// measure runs the benchmark and prints the table, also if a job failed.
func measure(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	start := time.Now()
	b := bench{progress: func(format string, args ...any) {
		fmt.Fprintf(stderr, "%4.0f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}}
	if err := b.flags(args, stderr); err != nil {
		return err
	}
	if b.from != "" {
		return drawReport(b.pictures, b.from)
	}
	done, err := b.run(ctx)
	if len(done) == 0 {
		return cmp.Or(err, b.skipped, errors.New("no job matches -run"))
	}
	r := report{strings.Join(b.about(ctx), "; "), done}
	fmt.Fprintf(stdout, "%s\n\n", r.Machine)
	err = errors.Join(err, printTable(stdout, done))
	if b.json != "" {
		err = errors.Join(err, r.write(b.json))
	}
	if b.pictures != "" {
		_, drawErr := drawPictures(b.pictures, r)
		err = errors.Join(err, drawErr)
	}
	return err
}

// flags parses the command line.
func (b *bench) flags(args []string, stderr io.Writer) (err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.dir, "dir", cmp.Or(os.Getenv("BENCH_DIR"), "/var/tmp/wkwfs-bench"),
		"`directory` of the data, which is kept for the next run (BENCH_DIR)")
	program := set.String("wkwfs", "bin/wkwfs", "`program` to measure")
	before := set.String("before", "", "another wkwfs, as a `program` to measure in the same rounds")
	set.StringVar(&b.refdata, "refdata", cmp.Or(os.Getenv("WKWFS_REFDATA"), "../shared/refdata"),
		"`directory` of datasets that other programs wrote (WKWFS_REFDATA)")
	set.IntVar(&b.cache, "cache", 1024, "memory for decoded blocks in `MiB`")
	set.IntVar(&b.rounds, "rounds", 5, "`number` of turns of each contender")
	only := set.String("run", "", "run only the jobs whose names match this `regexp`")
	small := set.Bool("tiny", false, "use little data, to test the benchmark itself")
	set.StringVar(&b.json, "json", "", "`file` for all figures of all rounds")
	set.StringVar(&b.pictures, "pictures", "", "`directory` for pictures of the figures, as SVG")
	set.StringVar(&b.from, "from", "", "draw the pictures of a `file` that -json wrote, and measure nothing")
	if err := set.Parse(args); err != nil {
		return err
	}
	if b.from != "" {
		if b.pictures == "" {
			return errors.New("-from needs -pictures")
		}
		return nil
	}
	if b.rounds < 1 || b.cache < 1 || set.NArg() > 0 {
		const expected = "rounds %d, cache %d, arguments %q: expected at least 1, at least 1, none"
		return fmt.Errorf(expected, b.rounds, b.cache, set.Args())
	}
	b.sizes = usual
	if *small {
		b.sizes, b.dir = tiny, filepath.Join(b.dir, "tiny")
	}
	if b.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if b.program, err = findProgram(*program); err == nil && *before != "" {
		b.before, err = findProgram(*before)
	}
	return err
}
