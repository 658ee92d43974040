//go:build !linux

package store

// hasACL returns false: how to find access control lists differs between systems, and wkwfs only knows those of Linux.
func hasACL(string) bool { return false }
