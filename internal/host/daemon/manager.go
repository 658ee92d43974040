package daemon

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Manager is the service manager that has started this process, as in sd_notify(3): systemd
// with Type=notify. The zero Manager is none, and its methods do nothing.
type Manager struct {
	notify   bool          // it wants to know the state
	watchdog time.Duration // how long it waits for a sign of life; 0 is forever
}

// maxWatchdog is the longest watchdog that makes sense. Longer ones may have overflowed.
const maxWatchdog = 24 * time.Hour

// FindManager returns the manager in the environment of this process.
func FindManager() Manager {
	m := Manager{notify: os.Getenv("NOTIFY_SOCKET") != ""}
	interval, err := daemon.SdWatchdogEnabled(false)
	if err == nil && interval > 0 && interval <= maxWatchdog {
		m.watchdog = interval
	}
	return m
}

// LeaveWatchdog lets the server that this process starts send the signs of life.
func (m Manager) LeaveWatchdog() error {
	if m.watchdog == 0 {
		return nil
	}
	return os.Unsetenv("WATCHDOG_PID")
}

// Ready reports that the service has started.
func (m Manager) Ready() error { return m.send(daemon.SdNotifyReady) }

// Stopping reports that the service is about to end.
func (m Manager) Stopping() error { return m.send(daemon.SdNotifyStopping) }

func (m Manager) send(state string) error {
	if !m.notify {
		return nil
	}
	_, err := daemon.SdNotify(false, state)
	return err
}

// Watch sends signs of life until ctx is done, twice as often as the manager asks for. It sends
// one only after check has returned nil, so a server that hangs sends none.
func (m Manager) Watch(ctx context.Context, check func() error, log *slog.Logger) {
	if !m.notify || m.watchdog == 0 {
		return
	}
	ticker := time.NewTicker(m.watchdog / 2)
	defer ticker.Stop()
	for {
		err := guard.Do("daemon.watch", func() error {
			guard.Pass("daemon.watch")
			return check()
		})
		guard.Report(err)
		if err == nil && ctx.Err() == nil {
			err = m.send(daemon.SdNotifyWatchdog)
		}
		if err != nil {
			log.Error("cannot send a sign of life to the service manager", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
