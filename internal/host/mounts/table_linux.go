package mounts

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// tablePath is the table of mounts of this process.
const tablePath = "/proc/self/mountinfo"

// ReadTable returns the mounts that this process sees. It accesses no mount, so it cannot hang
// on a dead one.
func ReadTable() (Table, error) {
	f, err := os.Open(tablePath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseTable(f)
}

// parseTable parses the format of /proc/self/mountinfo, proc(5).
func parseTable(r io.Reader) (Table, error) {
	infos, err := mountinfo.GetMountsFromReader(r, nil)
	if err != nil {
		return nil, err
	}
	table := make(Table, 0, len(infos))
	for _, i := range infos {
		table = append(table, Mount{i.ID, i.Mountpoint, i.FSType, i.Source, userOf(i.VFSOptions),
			fmt.Sprintf("%d:%d", i.Major, i.Minor)})
	}
	return table, nil
}

// userOf returns the value of user_id in the options of a file system.
func userOf(options string) string {
	for option := range strings.SplitSeq(options, ",") {
		if user, ok := strings.CutPrefix(option, "user_id="); ok {
			return user
		}
	}
	return ""
}
