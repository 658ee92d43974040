package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/daemon"
	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/log"
	"github.com/wkwfs/wkwfs/internal/mounts"
	"github.com/wkwfs/wkwfs/internal/remote"
	"github.com/wkwfs/wkwfs/internal/source"
	"github.com/wkwfs/wkwfs/internal/view"
)

// lingerTime is how long readers may go on after a signal has ended a mount in use. Then the
// process ends, and they get errors.
const lingerTime = 5 * time.Second

// serveMount mounts and returns when the mount is gone. It calls ready with the resolved mountpoint
// when the mount answers; an error of ready ends the mount. It then reports to the service
// manager m.
func serveMount(s mountSettings, m daemon.Manager, background bool, ready func(mountpoint string, logs log.Place) error, stderr io.Writer) error {
	s.log.Background = background
	logger, logs, err := log.New(s.log, stderr)
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
	o := s.from.options(logger)
	o.Shared, o.Wrap = s.allowOther, disk.bucket
	opened, err := source.Open(s.source, o)
	if err != nil {
		return err
	}
	// Never closed: Close waits for loads, and a disk that does not answer must not keep the
	// server from ending.
	blocks := cache.New(int64(s.cacheSize))
	meter := newMeter(s, mountpoint, logs, blocks, opened, disk)
	listener, err := s.metrics.Listen()
	if err != nil {
		return err
	}
	defer serveMetrics(listener, meter, logger)()
	tree := withStatus(meter, view.New(opened.Root, view.Options{Cache: blocks, Log: logger, Private: !s.allowOther, Unit: header.Unit(s.unit)}), logger)
	server, err := fsnode.Mount(mountpoint, tree, mountOptions(s, meter, opened.AnswersAtOnce, logger))
	if err != nil {
		return mounts.Explain(mountpoint, err)
	}
	if err := daemon.DropPrivileges(); err != nil {
		logger.Warn("the server keeps more privileges than it needs", "err", err)
	}
	logger.Info("mounted", "source", remote.Display(s.source), "mountpoint", mountpoint, "version", version().Version)
	if err := ready(mountpoint, logs); err != nil {
		_ = server.Unmount() // the first error counts
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// serveMount does not wait for these: a server must end even if it hangs.
	go meter.Run(ctx)
	go m.Watch(ctx, server.Check, logger)
	return waitForEnd(server, m, signals, logger)
}

// prepareMount returns the resolved mountpoint, after all checks that need no source.
func prepareMount(s mountSettings, logger *slog.Logger) (mountpoint string, err error) {
	if fd, ok := fsnode.Descriptor(s.mountpoint); ok {
		mountpoint, err = s.mountpoint, mounts.CheckDescriptor(fd)
	} else if mountpoint, err = mounts.Prepare(s.mountpoint, s.source, logger); err == nil {
		err = mounts.CheckFUSE(mountpoint, s.allowOther)
	}
	if err != nil {
		return "", err
	}
	tuneRuntime(int64(s.cacheSize))
	// The file system of the working directory can be unmounted then.
	return mountpoint, os.Chdir("/")
}

// mountOptions returns the options of the FUSE server.
func mountOptions(s mountSettings, observer fsnode.Observer, answersAtOnce func() bool, logger *slog.Logger) fsnode.Options {
	return fsnode.Options{
		Source:        remote.Display(s.source),
		AllowOther:    s.allowOther,
		ReadAhead:     int(s.readAhead),
		Log:           logger,
		Debug:         s.log.Debug,
		Observer:      observer,
		AnswersAtOnce: answersAtOnce,
		UID:           s.uid.ID,
		GID:           s.gid.ID,
		Umask:         s.umask.Bits,
		Kernel:        s.kernel,
	}
}

// endSignals returns a channel with the signals that end a mount. SIGHUP, from a terminal that is
// closed, ends a mount in the foreground only.
func endSignals(background bool) <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	switch {
	case background:
		signal.Ignore(unix.SIGHUP)
	case !signal.Ignored(unix.SIGHUP): // nohup ignores it
		signal.Notify(signals, unix.SIGHUP)
	}
	return signals
}

// waitForEnd returns when the mount is gone. A signal unmounts it and waits for its readers; a
// second signal does not wait.
func waitForEnd(server *fsnode.Server, m daemon.Manager, signals <-chan os.Signal, logger *slog.Logger) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Wait()
	}()
	select {
	case <-ended:
		logger.Info("unmounted")
		return nil
	case s := <-signals:
		logger.Info("unmounting", "signal", s.String())
	}
	if err := m.Stopping(); err != nil {
		logger.Warn("cannot report the end to the service manager", "err", err)
	}
	if err := server.Unmount(); errors.Is(err, fsnode.ErrNotOurs) {
		logger.Info("ending: readers get errors until the mount is removed")
		return nil
	} else if err != nil {
		return err
	}
	select {
	case <-ended:
		logger.Info("unmounted")
	case <-signals:
		logger.Warn("ending at once: files are still open")
	case <-time.After(lingerTime):
		logger.Warn("ending: files are still open", "waited", lingerTime)
	}
	return nil
}
