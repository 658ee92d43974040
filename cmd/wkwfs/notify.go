package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// manager is the service manager that started us, as sd_notify(3) describes it: systemd
// with Type=notify. The zero manager is nobody, and is told nothing.
type manager struct {
	address  string        // of its socket
	watchdog time.Duration // how long it waits for a sign of life; 0: it does not
}

// What a manager is told.
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
	stateAlive    = "WATCHDOG=1"
)

// findManager returns the manager that the environment names. A watchdog that is meant
// for another process is not ours.
func findManager(getenv func(string) string) manager {
	m := manager{address: getenv("NOTIFY_SOCKET")}
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return m
	}
	if us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 && us <= maxWatchdog.Microseconds() {
		m.watchdog = time.Duration(us) * time.Microsecond
	}
	return m
}

// maxWatchdog is the longest wait that has a meaning here.
const maxWatchdog = 24 * time.Hour

// notify tells the manager of a state.
func (m manager) notify(state string) error {
	if m.address == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", m.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}

// watch gives signs of life, twice as often as the manager asks for, until ctx is done.
// Before each one check has to return: where it hangs, there is no sign.
func (m manager) watch(ctx context.Context, check func() error, log *slog.Logger) {
	if m.address == "" || m.watchdog == 0 {
		return
	}
	ticker := time.NewTicker(m.watchdog / 2)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil && ctx.Err() == nil {
			err = m.notify(stateAlive)
		}
		if err != nil {
			log.Error("no sign of life for the service manager", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
