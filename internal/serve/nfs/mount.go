package nfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// mountProcedures are the procedures of MOUNT by their numbers (5.2).
var mountProcedures = []procedure{
	{"null", func(*request) error { return nil }, 0},
	{"mnt", (*request).mnt, 0},
	{"dump", func(r *request) error { r.out.Bool(false); return nil }, 0}, // nobody is recorded
	{"umnt", func(*request) error { return nil }, 0},
	{"umntall", func(*request) error { return nil }, 0},
	{"export", (*request).export, 0},
}

// mnt returns the handle of a directory (5.2.1). Its path is that in the tree: / is the root.
func (r *request) mnt() error {
	dir := r.args.String(1024) // MNTPATHLEN
	if err := r.parsed(); err != nil {
		return err
	}
	r.path = strings.TrimPrefix(path.Clean("/"+dir), "/")
	if r.path == "" {
		r.path = "."
	}
	if !fs.ValidPath(r.path) {
		return statusNoEntry
	}
	info, err := r.stat(r.path)
	switch {
	case errors.Is(err, statusStale):
		return statusNoEntry // of a directory above; MOUNT has no stale handles
	case err != nil:
		return err
	case !info.IsDir():
		return statusNotDir
	}
	r.out.Uint32(uint32(statusOK))
	r.out.Opaque(r.server.handles.encode(handleOf(r.path, info)))
	r.out.Uint32(1, authSys)
	return nil
}

// export lists what can be mounted (5.2.5): the root, by everybody.
func (r *request) export() error {
	r.out.Bool(true)
	r.out.String("/")
	r.out.Bool(false) // no groups
	r.out.Bool(false) // no more
	return nil
}

// portmapProcedures are those procedures of PORTMAP that read (RFC 1833, section 3).
var portmapProcedures = []procedure{
	{"null", func(*request) error { return nil }, 0},
	{"set", func(r *request) error { r.out.Bool(false); return nil }, 0},
	{"unset", func(r *request) error { r.out.Bool(false); return nil }, 0},
	{"getport", (*request).getPort, 0},
}

// protocolTCP is IPPROTO_TCP.
const protocolTCP = 6

// getPort returns the port of a program, or 0 if it is not here.
func (r *request) getPort() error {
	program, version, protocol := r.args.Uint32(), r.args.Uint32(), r.args.Uint32()
	r.args.Uint32() // port: of no use
	if err := r.parsed(); err != nil {
		return err
	}
	port := uint32(0)
	if protocol == protocolTCP && (program == programNFS && version == versionNFS ||
		program == programMount && version == versionMount) {
		port = r.server.port
	}
	r.out.Uint32(port)
	return nil
}
