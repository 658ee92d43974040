//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
)

// mount serves in this process, or in the background in a process that it starts. It prints to stdout where that
// process logs.
func mount(s mountSettings, stdout, stderr io.Writer) error {
	if s.foreground && s.wait {
		return hint.Usagef("leave one of them out", "--foreground and --wait are both given")
	}
	if err := s.makeAbsolute(); err != nil {
		return err
	}
	if err := s.adapt(); err != nil {
		return err
	}
	switch {
	case daemon.IsServer():
		return serveInBackground(s, stderr)
	case s.foreground:
		m := daemon.FindManager()
		return serveMount(s, m, false, func(string, log.Place, []string) error { return m.Ready() }, stderr)
	case s.wait:
		return mountAndWait(stderr)
	}
	server, err := daemon.Start(os.Args, false, checkMounted, stderr)
	if err != nil {
		return err
	}
	log, warnings, _ := strings.Cut(server.Message, "\n")
	for line := range strings.Lines(warnings) {
		fmt.Fprintln(stderr, "wkwfs: "+hint.OneLine(strings.TrimSuffix(line, "\n")))
	}
	if s.quiet {
		return nil
	}
	_, err = fmt.Fprintf(stdout, "mounted on %s, log: %s\n", hint.Escape(s.mountpoint), hint.Escape(log))
	return err
}

// serveInBackground serves in this process, which another one has started for that.
func serveInBackground(s mountSettings, stderr io.Writer) error {
	pipe, err := daemon.OpenPipe(s.wait)
	if err != nil {
		return err
	}
	var m daemon.Manager
	if s.wait {
		m = daemon.FindManager()
	}
	err = serveMount(s, m, true, func(mountpoint string, logs log.Place, warnings []string) error {
		return pipe.Ready(mountpoint, strings.Join(append([]string{logs.String()}, warnings...), "\n"))
	}, stderr)
	if err != nil {
		var printed strings.Builder
		report(&printed, err)
		pipe.Fail(printed.String())
	}
	return err
}

// attached is a mount that has a server in this process.
type attached interface {
	// Wait returns after the mount has ended: it is removed, and no program uses it.
	Wait()
	// Check returns nil if the server can answer requests. If it does not return, the server hangs.
	Check() error
	// Unmount removes the mount, and returns false if that was done already. It does not wait for programs that use it.
	// The error is errNotOurs if another program has to do that.
	Unmount() (removed bool, err error)
	// Gone returns a channel that is closed when the mount is removed, although programs may still use it. It is nil if
	// they cannot.
	Gone() <-chan struct{}
}

// serveMount mounts and returns when the mount is gone. It calls ready with the resolved mountpoint when the mount
// answers, with the warnings for the user; an error of ready ends the mount. It then reports to the service manager m.
func serveMount(s mountSettings, m daemon.Manager, background bool, ready func(mountpoint string, logs log.Place,
	warnings []string) error, stderr io.Writer) error {
	s.log.Background = background && !s.wait
	logger, logs, err := newLogger(s.log, stderr)
	if err != nil {
		return err
	}
	if err := daemon.AbortOnCrash(); err != nil {
		logger.Warn("a crash will end the server as a wrong command line does", "err", err)
	}
	signals := endSignals(background)
	mountpoint, err := prepareMount(s, logger)
	if err != nil {
		return err
	}
	disk, err := s.diskCache.open(logger)
	if err != nil {
		return err
	}
	defer disk.close()
	var opening, looking warnings // for the terminal
	o := s.from.options(opening.also(logger))
	o.Shared, o.DiskCache = s.allowOther, disk.kept
	opened, err := openSource(s.source, o)
	if err != nil {
		return err
	}
	// Never closed: Close waits for loads, and a disk that does not answer must not keep the
	// server from ending.
	blocks := cache.New(int64(s.cacheSize) - s.memoryOfEdits())
	looked := lookForGaps(opened, s.source, blocks, looking.also(logger))
	edits, err := s.openEdits(&opened.Root, blocks, opening.also(logger))
	if err != nil {
		return err
	}
	defer edits.close()
	meter := newMeter(s, mountpoint, logs, blocks, opened, disk)
	listener, err := s.metrics.Listen()
	if err != nil {
		return err
	}
	stopMetrics := serveMetrics(listener, meter, logger)
	defer stopMetrics()
	tree := view.New(opened.Root, view.Options{Cache: blocks, Log: logger, Private: !s.allowOther,
		Unit: header.Unit(s.unit)})
	saver := s.newSaver(tree, logger)
	if saver != nil {
		defer saver.Close()
	}
	server, err := s.attach(mountpoint, tree, saver, meter, opened, logger)
	if err != nil {
		return err
	}
	if err := daemon.DropPrivileges(); err != nil {
		logger.Warn("the server keeps more privileges than it needs", "err", err)
	}
	logger.Info("mounted", "source", remote.Display(s.source), "mountpoint", mountpoint, "version", version().Version)
	waitForGaps(looked)
	if err := ready(mountpoint, logs, append(opening.take(), looking.take()...)); err != nil {
		_, _ = server.Unmount() // the first error counts
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// serveMount does not wait for these: a server must end even if it hangs.
	go guard.Func("status.sample", func() { meter.Run(ctx) })()
	go guard.Func("daemon.watch", func() { m.Watch(ctx, server.Check, logger) })()
	e := ending{server: server, signals: signals, log: logger}
	if !s.wait { // the main process says that it stops; this one may be late, and stop the next one
		e.manager = m
	}
	e.release = func() { stop(); stopMetrics() }
	e.shrink = func() { blocks.KeepAtMost(int64(s.cacheSize) / lingeringShare) }
	return e.wait()
}

// prepareMount returns the resolved mountpoint, after all checks that need no source.
func prepareMount(s mountSettings, logger *slog.Logger) (mountpoint string, err error) {
	if mountpoint, err = s.prepareMountpoint(logger); err != nil {
		return "", err
	}
	tuneRuntime(int64(s.cacheSize))
	// The file system of the working directory can be unmounted then.
	return mountpoint, os.Chdir("/")
}

// endSignals returns a channel with the signals that end a mount, and with others. SIGHUP, from a terminal that is
// closed, ends a mount in the foreground only.
func endSignals(background bool, others ...os.Signal) <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, append(others, unix.SIGINT, unix.SIGTERM)...)
	switch {
	case background:
		signal.Ignore(unix.SIGHUP)
	case !signal.Ignored(unix.SIGHUP): // nohup ignores it
		signal.Notify(signals, unix.SIGHUP)
	}
	return signals
}
