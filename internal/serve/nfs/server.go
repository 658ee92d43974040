package nfs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// Options configures a [Server].
type Options struct {
	// FSID identifies the file system for clients. It should be the same after a restart.
	FSID uint64
	// Observer counts reads and errors. Nil counts nothing.
	Observer Observer
	// Log receives each error of the files once and, at level debug, every call. Nil discards them.
	Log *slog.Logger
}

const (
	// maxConnections bounds the connections. Each has a buffer of 8 KiB, and up to maxRecord while it reads a call.
	maxConnections = 1024
	// endTime is how long calls in progress may take when the server ends.
	endTime = 5 * time.Second
)

// Server serves an fs.FS. Its files must implement io.ReaderAt or vfs.ContextReaderAt.
type Server struct {
	fsys        fs.FS
	fsid        uint64
	log         *slog.Logger
	faults      *log.Faults
	handles     *handles
	directories *directories
	files       *files
	listings    *listings
	budget      *budget
	observer    Observer
	port        uint32 // where it listens
}

// New returns a server.
func New(fsys fs.FS, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	return &Server{
		fsys:        fsys,
		fsid:        o.FSID,
		observer:    o.Observer,
		log:         o.Log,
		faults:      log.NewFaults(o.Log),
		handles:     newHandles(fsys),
		directories: newDirectories(fsys),
		files:       newFiles(fsys),
		listings:    newListings(fsys),
		budget:      newBudget(budgetBytes),
	}
}

// Serve answers calls that come to the listener until ctx is done, and closes the listener. Calls in progress get five
// seconds to end. Serve does not wait longer for a source that hangs. It returns an error if the listener fails.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		s.port = uint32(tcp.Port)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, guard.Func("nfs.listener", func() {
		defer l.Close() // it loses no data
		guard.Pass("nfs.listener")
	}))()
	go guard.Func("nfs.idle", func() { s.closeIdle(ctx) })()
	var group sync.WaitGroup
	err := s.accept(ctx, l, &group)
	cancel()
	ended := make(chan struct{})
	go guard.Func("nfs.end", func() {
		defer close(ended)
		group.Wait()
		guard.Pass("nfs.end")
		s.files.close()
		s.listings.close()
	})()
	select {
	case <-ended:
	case <-time.After(endTime):
		s.log.Warn("ending: the source has not answered", "waited", endTime)
	}
	return err
}

// accept serves connections until ctx is done or the listener fails.
func (s *Server) accept(ctx context.Context, l net.Listener, group *sync.WaitGroup) error {
	slots := make(chan struct{}, maxConnections)
	for {
		connected, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = connected.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // such as too many open files
			s.log.Warn("cannot accept a connection", "err", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			s.log.Warn("refusing a connection: there are too many", "from", connected.RemoteAddr().String(),
				"connections", maxConnections)
			_ = connected.Close()
			continue
		}
		group.Go(guard.Func("nfs.connection", func() {
			defer func() { <-slots }()
			defer connected.Close() // it loses no data
			s.serveConn(ctx, connected)
		}))
	}
}

// serveConn serves a connection.
func (s *Server) serveConn(ctx context.Context, connected net.Conn) {
	from := connected.RemoteAddr().String()
	c := &conn{server: s, net: connected, peer: peerOf(connected), calls: make(chan struct{}, maxCalls)}
	defer context.AfterFunc(ctx, guard.Func("nfs.cut", func() {
		defer c.cut()
		guard.Pass("nfs.cut")
	}))()
	guard.Pass("nfs.connection")
	s.log.Debug("connected", "from", from, "user_known", c.peer.known, "uid", c.peer.uid)
	err := c.serve(ctx)
	var lost net.Error // such as a reset: clients just go
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &lost):
		s.log.Debug("disconnected", "from", from, "err", err)
	default:
		s.log.Warn("cutting a connection", "from", from, "err", err)
	}
}

// closeIdle closes files and listings that were not used for long, until ctx is done.
func (s *Server) closeIdle(ctx context.Context) {
	tick := time.NewTicker(idleTime / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			guard.Func("nfs.idle", func() {
				guard.Pass("nfs.idle")
				s.files.closeIdle(now)
				s.listings.closeIdle(now)
			})()
		}
	}
}
