package store

import "golang.org/x/sys/unix"

// hasACL reports whether a file has an access control list, or may have one because the system returns an error.
func hasACL(name string) bool {
	for {
		switch _, err := unix.Lgetxattr(name, "system.posix_acl_access", nil); err {
		case nil:
			return true
		case unix.EINTR:
			continue
		case unix.ENODATA, unix.ENOTSUP:
			return false
		default:
			return true
		}
	}
}
