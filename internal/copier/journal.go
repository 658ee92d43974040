package copier

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
)

// journal is the file beside a part that says how far it is.
type journal struct{ f *os.File }

// record is what a journal says.
type record struct {
	Version string `json:"version"` // of the source
	Size    int64  `json:"size"`    // of the source, bytes
	Range   int64  `json:"range"`   // bytes
	Done    int64  `json:"done"`    // so many ranges from the start are on disk
}

// recordSize is the length of every record: a new one takes the place of the last in
// one write, and needs no room on a disk that is full.
const recordSize = 256

func openJournal(dst *os.Root, name string) (*journal, error) {
	f, err := dst.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	return &journal{f}, destination(err)
}

// resumes returns what the journal says, and whether a copy of the source that is
// described by now can go on with the part.
func (j *journal) resumes(now record, part *os.File) (was record, ok bool) {
	b, err := io.ReadAll(io.NewSectionReader(j.f, 0, recordSize))
	if err != nil || json.Unmarshal(b, &was) != nil || was.Done < 0 || was.Done > (was.Size+now.Range-1)/now.Range {
		return record{}, false
	}
	info, err := part.Stat()
	if err != nil || info.Size() != was.Size {
		return record{}, false
	}
	now.Done = was.Done
	return was, was == now
}

func (j *journal) write(r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(b, bytes.Repeat([]byte(" "), recordSize-1-len(b))...)
	_, err = j.f.WriteAt(append(b, '\n'), 0)
	return destination(err)
}
