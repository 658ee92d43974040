package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/view"
)

// lingerTime is what readers get to finish after a signal ended a mount that was
// in use; then the process ends and they see errors.
const lingerTime = 5 * time.Second

// serve mounts and returns when the mount is gone. It calls ready with the
// resolved mountpoint as soon as the mount answers; an error of ready ends the
// mount. The service manager m is told what happens from then on.
func serve(s settings, m manager, background bool, ready func(mountpoint string) error, stderr io.Writer) error {
	log, err := newLogger(s.log, background, stderr)
	if err != nil {
		return err
	}
	signals := endSignals(background)
	mountpoint, err := prepareMountpoint(s.mountpoint, s.source, log)
	if err != nil {
		return err
	}
	if err := checkFUSE(mountpoint, s.allowOther); err != nil {
		return err
	}
	if err := leaveDirectory(); err != nil {
		return err
	}
	tuneRuntime(int64(s.cacheSize))

	source, err := openSource(s.source, s.from, log)
	if err != nil {
		return err
	}
	// Never closed, which would wait for its loads: a disk that does not answer must not
	// keep a server from ending.
	blocks := cache.New(int64(s.cacheSize))
	meter := newMeter(s, mountpoint, blocks, source)
	listener, err := s.metrics.listen()
	if err != nil {
		return err
	}
	defer serveMetrics(listener, meter.Handler(), log)()
	tree := withStatus(meter, view.New(source.Root, view.Options{Cache: blocks, Log: log, Private: !s.allowOther}), log)
	server, err := fsnode.Mount(mountpoint, tree, mountOptions(s, meter, source.prompt, log))
	if err != nil {
		return mountError(mountpoint, err)
	}
	if err := dropPrivileges(); err != nil {
		log.Warn("runs with more privileges than it needs", "err", err)
	}
	log.Info("mounted", "source", s.source, "mountpoint", mountpoint, "version", version().Version)
	if err := ready(mountpoint); err != nil {
		_ = server.Unmount() // the first error is the one to tell
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// Not waited for: a server that hangs is to end all the same.
	go meter.Run(ctx)
	go m.watch(ctx, server.Check, log)
	return waitForEnd(server, m, signals, log)
}

// mountOptions says how to mount.
func mountOptions(s settings, observer fsnode.Observer, prompt func() bool, log *slog.Logger) fsnode.Options {
	return fsnode.Options{
		Source:     s.source,
		AllowOther: s.allowOther,
		ReadAhead:  int(s.readAhead),
		Log:        log,
		Debug:      s.log.debug,
		Observer:   observer,
		Prompt:     prompt,
		UID:        s.uid.id,
		GID:        s.gid.id,
		Umask:      s.umask.mask,
		Kernel:     s.kernel,
	}
}

// endSignals returns the signals that end a mount. A terminal that is closed ends
// what runs in its foreground; the background does not care.
func endSignals(background bool) <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	switch {
	case background:
		signal.Ignore(unix.SIGHUP)
	case !signal.Ignored(unix.SIGHUP): // as under nohup
		signal.Notify(signals, unix.SIGHUP)
	}
	return signals
}

// waitForEnd returns when somebody has unmounted, or unmounts on a signal. A
// second signal does not wait for readers any more.
func waitForEnd(server *fsnode.Server, m manager, signals <-chan os.Signal, log *slog.Logger) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Wait()
	}()
	select {
	case <-ended:
		log.Info("unmounted")
		return nil
	case s := <-signals:
		log.Info("unmounting", "signal", s.String())
	}
	if err := m.notify(stateStopping); err != nil {
		log.Warn("the service manager does not know that this is the end", "err", err)
	}
	if err := server.Unmount(); err != nil {
		return err
	}
	select {
	case <-ended:
		log.Info("unmounted")
	case <-signals:
		log.Warn("ending at once: files are still open")
	case <-time.After(lingerTime):
		log.Warn("ending: files are still open", "waited", lingerTime)
	}
	return nil
}
