package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The times that a client, and a reply after the end, may take. What may be slow is a
// download, as long as it goes on: see stallTime.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	endTime    = 10 * time.Second
)

// maxHeader is how long the headers of a request may be, in bytes.
const maxHeader = 32 << 10

// Serve answers what arrives at the listener, until ctx is done; then nothing new is
// accepted, and what is being answered has ten seconds to end. It closes the
// listener. An error is that of the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		patience, done := context.WithTimeout(base, endTime)
		defer done()
		if err := server.Shutdown(patience); err != nil {
			log.Warn("ending: downloads are cut", "waited", endTime)
			cut()
			_ = server.Close() // the listener is closed already
		}
	})
	err := server.Serve(l)
	if stop() { // it is not ctx that ended it
		_ = server.Close() // the first error is the one to tell
		return err
	}
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
