package log

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Place is where a server logs.
type Place struct {
	Kind Kind
	File string // path; only of File
	Err  error  // why messages are lost; only of Nowhere
}

// Kind is a kind of places, as programs read it.
type Kind string

// The kinds of places.
const (
	Stderr  Kind = "stderr"
	Journal Kind = "journal"
	Syslog  Kind = "syslog"
	File    Kind = "file"
	Nowhere Kind = "nowhere" // messages are lost
)

// String returns what a user needs to find the log: a command, or a path.
func (p Place) String() string {
	switch p.Kind {
	case Journal:
		return "journalctl -t " + identifier
	case File:
		return p.File
	case Nowhere:
		return "lost (--log-file FILE keeps it): " + p.Err.Error()
	}
	return string(p.Kind)
}

// ownFile is the name of the log file of servers that have no other place.
const ownFile = identifier + ".log"

// openOwn opens the log file of a server that has no other place. It creates the directory, which only its user may
// read: the log has paths of data.
func openOwn() (*file, error) {
	dir, err := stateDir(os.Getenv, os.Geteuid())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return openFile(filepath.Join(dir, ownFile))
}

// stateDir returns the directory for the log file of a user: the state directory that a service manager gives, else
// /var/log for root and the state directory of the XDG base directories for others. Relative paths in the environment
// do not count, because the working directory may be that of another user.
func stateDir(getenv func(string) string, uid int) (string, error) {
	// A service may have several state directories.
	if dir, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if uid == 0 {
		return "/var/log/" + identifier, nil
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, identifier), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local/state", identifier), nil
	}
	return "", errors.New("neither XDG_STATE_HOME nor HOME is an absolute path")
}
