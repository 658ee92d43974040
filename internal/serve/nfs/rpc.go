package nfs

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// Numbers of ONC RPC (RFC 5531, section 9).
const (
	msgCall, msgReply                 = 0, 1
	replyAccepted, replyDenied        = 0, 1
	deniedVersion, deniedAuth         = 0, 1
	rpcVersion                        = 2
	authNone, authSys                 = 0, 1
	authBadCredentials                = 1
	authTooWeak                       = 5
	maxCredentials                    = 400 // bytes
	lastFragment               uint32 = 1 << 31
)

// acceptStatus is an accept_stat (RFC 5531, section 9). As an error it is that of a call.
type acceptStatus uint32

const (
	rpcSuccess         acceptStatus = 0
	rpcNoProgram       acceptStatus = 1
	rpcVersionMismatch acceptStatus = 2
	rpcNoProcedure     acceptStatus = 3
	rpcGarbage         acceptStatus = 4
)

func (s acceptStatus) Error() string { return fmt.Sprintf("RPC status %d", uint32(s)) }

// maxRecord bounds a call, in bytes. A WRITE of the size that FSINFO names fits.
const maxRecord = maxWrite + 4096

// readRecord reads a record of one or more fragments (RFC 5531, section 11). started is called when the first bytes are
// there.
func readRecord(r io.Reader, started func()) ([]byte, error) {
	var record []byte
	for last := false; !last; {
		var header [4]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return nil, err
		}
		started()
		n := binary.BigEndian.Uint32(header[:])
		last = n&lastFragment != 0
		n &^= lastFragment
		if int64(n) > int64(maxRecord-len(record)) {
			return nil, fmt.Errorf("byte %d of a call: expected at most %d bytes, found a fragment of %d", len(record),
				maxRecord, n)
		}
		at := len(record)
		record = append(record, make([]byte, n)...)
		if _, err := io.ReadFull(r, record[at:]); err != nil {
			return nil, fmt.Errorf("byte %d of a call: %w", at, err)
		}
	}
	return record, nil
}

// call is a call with its arguments.
type call struct {
	xid, program, version, procedure uint32

	claim claim // of the caller
	args  []byte
}

// reject is the error of a call whose header is answered with denial. Its fields follow reject_stat in the reply.
type reject []uint32

func (reject) Error() string { return "RPC call denied" }

// parseCall parses the header of a call (RFC 5531, section 9). A [reject] is for the client. After any other error
// there can be no reply.
func parseCall(record []byte) (c call, err error) {
	d := xdr.NewDecoder(record)
	c.xid = d.Uint32()
	kind, version := d.Uint32(), d.Uint32()
	c.program, c.version, c.procedure = d.Uint32(), d.Uint32(), d.Uint32()
	switch {
	case d.Err() != nil:
		return c, fmt.Errorf("header of a call: %w", d.Err())
	case kind != msgCall:
		return c, fmt.Errorf("byte 4 of a call: expected type %d, found %d", msgCall, kind)
	case version != rpcVersion:
		return c, reject{deniedVersion, rpcVersion, rpcVersion}
	}
	flavour, credentials := d.Uint32(), d.Opaque(maxCredentials)
	d.Uint32() // flavour of the verifier: AUTH_NONE has no other bytes
	d.Opaque(maxCredentials)
	if d.Err() != nil {
		return c, reject{deniedAuth, authBadCredentials}
	}
	switch flavour {
	case authNone:
		c.claim = claim{uid: nobody, gid: nobody}
	case authSys:
		if c.claim, err = parseAuthSys(credentials); err != nil {
			return c, reject{deniedAuth, authBadCredentials}
		}
	default:
		return c, reject{deniedAuth, authTooWeak}
	}
	c.args = d.Rest()
	return c, nil
}

// claim is who a caller says it is.
type claim struct {
	uid, gid uint32
	groups   []uint32
}

// parseAuthSys parses credentials of AUTH_SYS (RFC 5531, appendix A).
func parseAuthSys(credentials []byte) (claim, error) {
	d := xdr.NewDecoder(credentials)
	d.Uint32()    // stamp
	d.String(255) // name of the machine
	c := claim{uid: d.Uint32(), gid: d.Uint32()}
	n := d.Uint32()
	if n > 16 {
		return c, fmt.Errorf("AUTH_SYS: expected at most 16 groups, found %d", n)
	}
	for range n {
		c.groups = append(c.groups, d.Uint32())
	}
	return c, d.Err()
}

// denied encodes the reply to a call that is denied.
func denied(xid uint32, r reject) []byte {
	e := newReply(xid)
	e.Uint32(replyDenied)
	e.Uint32(r...)
	return e.Bytes()
}

// accepted encodes the start of a reply. The results follow if the status is rpcSuccess.
func accepted(xid uint32, s acceptStatus) *xdr.Encoder {
	e := newReply(xid)
	e.Uint32(replyAccepted, authNone, 0, uint32(s))
	return e
}

// recordMark is the size of the header of a fragment.
const recordMark = 4

// newReply returns an encoder with room for the record mark, and the start of a reply.
func newReply(xid uint32) *xdr.Encoder {
	e := xdr.NewEncoder(make([]byte, recordMark, 256))
	e.Uint32(xid, msgReply)
	return e
}
