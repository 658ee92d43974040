//go:build !linux

package daemon

// DropPrivileges does nothing: other systems have no capabilities that a server of root could give up.
func DropPrivileges() error { return nil }
