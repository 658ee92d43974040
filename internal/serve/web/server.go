package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// A download may take any time as long as it advances: see stallTimeout.
const (
	headerTimeout   = 10 * time.Second // for the headers of a request
	idleTimeout     = 2 * time.Minute  // between requests of a connection
	shutdownTimeout = 10 * time.Second // for replies in flight
)

const maxHeaderBytes = 32 << 10

// Serve answers the requests of a listener until ctx is done. Then it accepts no more requests and gives replies in
// flight ten seconds to finish. It closes the listener. It returns an error if the listener fails.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, guard.Func("web.shutdown", func() {
		defer close(ended)
		defer server.Close() // its error loses no data
		defer cancel()
		grace, release := context.WithTimeout(base, shutdownTimeout)
		defer release()
		guard.Pass("web.shutdown")
		if err := server.Shutdown(grace); err != nil {
			log.Warn("shutdown: cutting the downloads in flight", "waited", shutdownTimeout)
		}
	}))
	err := server.Serve(l)
	if stop() { // ctx is not done: the listener failed
		_ = server.Close()
		return err
	}
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
