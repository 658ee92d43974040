//go:build darwin || freebsd

package mounts

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/fsstat"
)

// ReadTable returns the mounts of this machine. It accesses no mount, so it cannot hang on a dead one.
func ReadTable() (Table, error) {
	all, err := fsstat.All()
	if err != nil {
		return nil, err
	}
	table := make(Table, 0, len(all))
	for _, m := range all {
		table = append(table, Mount{
			ID:     int(m.Fsid.Val[0])<<32 | int(uint32(m.Fsid.Val[1])),
			Point:  unix.ByteSliceToString(m.Mntonname[:]),
			Type:   unix.ByteSliceToString(m.Fstypename[:]),
			Source: unix.ByteSliceToString(m.Mntfromname[:]),
			User:   strconv.FormatUint(uint64(m.Owner), 10),
		})
	}
	return table, nil
}
