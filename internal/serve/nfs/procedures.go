package nfs

import (
	"context"
	"errors"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// The programs and their versions.
const (
	programPortmap, versionPortmap = 100000, 2
	programNFS, versionNFS         = 100003, 3
	programMount, versionMount     = 100005, 3
)

// The procedures of NFS that are treated in a special way, by their numbers (3).
const (
	procRead        = 6
	procReadDir     = 16
	procReadDirPlus = 17
)

// request is a call whose header is parsed.
type request struct {
	server *Server
	ctx    context.Context // done when the client is gone
	from   caller
	args   *xdr.Decoder
	out    *xdr.Encoder // the reply, up to the results

	op   string // for the log
	path string // of the entry of the request, once it is known

	data   []byte // bytes of the reply after out
	buffer []byte // from buffers
}

// procedure decodes arguments and encodes results. Its error is an [acceptStatus], or becomes the nfsstat3 of the
// results with the body of a failure.
type procedure struct {
	name    string
	run     func(*request) error
	failure int // size of the body of a failure in booleans, all false: post_op_attr, and two for wcc_data
}

// readOnly refuses a procedure that writes.
func readOnly(*request) error { return statusReadOnly }

// nfsProcedures are the procedures of NFS by their numbers (3.3).
var nfsProcedures = []procedure{
	{"null", func(*request) error { return nil }, 0},
	{"getattr", (*request).getAttr, 0},
	{"setattr", readOnly, 2},
	{"lookup", (*request).lookup, 1},
	{"access", (*request).access, 1},
	{"readlink", (*request).readLink, 1},
	{"read", (*request).read, 1},
	{"write", readOnly, 2},
	{"create", readOnly, 2},
	{"mkdir", readOnly, 2},
	{"symlink", readOnly, 2},
	{"mknod", readOnly, 2},
	{"remove", readOnly, 2},
	{"rmdir", readOnly, 2},
	{"rename", readOnly, 4},
	{"link", readOnly, 3},
	{"readdir", (*request).readDir, 1},
	{"readdirplus", (*request).readDirPlus, 1},
	{"fsstat", (*request).fsStat, 1},
	{"fsinfo", (*request).fsInfo, 1},
	{"pathconf", (*request).pathConf, 1},
	{"commit", readOnly, 2},
}

// reply is an encoded reply.
type reply struct {
	head   []byte // with room for the record mark
	data   []byte // after head; may be nil
	buffer []byte // from buffers; may be nil
}

// free gives the memory of the reply back.
func (r reply) free() { buffers.put(r.buffer) }

// program returns the procedures of a program in its version.
func (s *Server) program(c call) ([]procedure, *xdr.Encoder) {
	known := []struct {
		program, version uint32
		procedures       []procedure
	}{{programNFS, versionNFS, nfsProcedures}, {programMount, versionMount, mountProcedures},
		{programPortmap, versionPortmap, portmapProcedures}}
	for _, p := range known {
		switch {
		case p.program != c.program:
		case p.version != c.version:
			e := accepted(c.xid, rpcVersionMismatch)
			e.Uint32(p.version, p.version)
			return nil, e
		case c.procedure >= uint32(len(p.procedures)):
			return nil, accepted(c.xid, rpcNoProcedure)
		default:
			return p.procedures, nil
		}
	}
	return nil, accepted(c.xid, rpcNoProgram)
}

// reply answers a call. A panic of the procedure is NFS3ERR_IO.
func (s *Server) reply(ctx context.Context, c call, from caller) reply {
	procedures, mismatch := s.program(c)
	if mismatch != nil {
		return reply{head: mismatch.Bytes()}
	}
	p := procedures[c.procedure]
	r := &request{server: s, ctx: ctx, from: from, args: xdr.NewDecoder(c.args), out: accepted(c.xid, rpcSuccess),
		op: p.name}
	start := r.out.Len()
	err := guard.Do("nfs.call", func() error {
		guard.Pass("nfs.call")
		return p.run(r)
	})
	if guard.Is(err) {
		r.buffer = nil // what has panicked may have left it to others
	}
	var refused acceptStatus
	switch {
	case errors.As(err, &refused):
		return reply{head: accepted(c.xid, refused).Bytes(), buffer: r.buffer}
	case err != nil:
		r.out.Truncate(start)
		r.data = nil
		r.fail(p, err)
	}
	return reply{head: r.out.Bytes(), data: r.data, buffer: r.buffer}
}

// fail encodes the results of a procedure that failed.
func (r *request) fail(p procedure, err error) {
	var own status
	if !errors.As(err, &own) {
		r.server.observer.Failed(r.op, r.path, err)
	}
	st := statusOf(err)
	if isFault(st) && r.ctx.Err() == nil {
		r.server.faults.Report(r.op, r.path, err)
	}
	r.out.Uint32(uint32(st))
	for range p.failure {
		r.out.Bool(false)
	}
}

// parsed returns the error of the arguments.
func (r *request) parsed() error {
	if r.args.Err() != nil {
		return rpcGarbage
	}
	return nil
}

// weight returns the memory that a call needs, in bytes.
func (c call) weight() int64 {
	if c.program != programNFS {
		return callWeight
	}
	switch c.procedure {
	case procRead:
		d := xdr.NewDecoder(c.args)
		d.Opaque(maxHandle)
		d.Uint64() // offset
		return callWeight + int64(buffers.size(readSize(d.Uint32())))
	case procReadDir, procReadDirPlus:
		return callWeight + 2*maxListing
	}
	return callWeight
}
