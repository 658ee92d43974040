package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// DefaultDepth is how many requests are in flight at most, unless [Options] say otherwise. A source that answers
// after 5 ms then gives 64 / 5 ms = 12,800 answers a second.
const DefaultDepth = 64

// Options say how a source is asked.
type Options struct {
	Depth int // how many reads and looks may be in flight at a time; 0: DefaultDepth

	// Local says that the source is a disk of this machine. It is asked in turn, however long answers take: they take long when
	// all processors are busy, and a disk that turns reads many things together if it is told of them (vfs.Advisor).
	Local bool
}

// Scheduled is a store that measures how long its source takes to answer, and asks accordingly. A source that answers
// at once, such as a local disk, is asked in turn. One that answers late is asked for many things at a time: see
// [vfs.RangeReader] and [vfs.DescribeFS].
//
// A request is a read or a look. A look is whatever opens, describes or lists. Each request takes one of Depth slots,
// first come, first served; so requests that hang take their slots with them. Scheduled is safe for concurrent use.
type Scheduled struct {
	fsys  fs.FS
	queue *queue
}

var (
	_ fs.StatFS      = (*Scheduled)(nil)
	_ fs.ReadDirFS   = (*Scheduled)(nil)
	_ fs.ReadLinkFS  = (*Scheduled)(nil)
	_ vfs.DescribeFS = (*Scheduled)(nil)
	_ vfs.Later      = (*Scheduled)(nil)
	_ io.Closer      = (*Scheduled)(nil)
)

// Schedule puts the requests to a file system in order. Its files have to be readable at any offset: an [io.ReaderAt]
// or a [vfs.ContextReaderAt]. Close closes the file system, if it can be closed.
func Schedule(fsys fs.FS, o Options) *Scheduled {
	if o.Depth <= 0 {
		o.Depth = DefaultDepth
	}
	return &Scheduled{fsys, newQueue(o)}
}

// Late implements [vfs.Later]: it says what the last reads say.
func (s *Scheduled) Late() bool { return s.queue.reads.pace.late() }

// Close closes the file system below. Open files stay open.
func (s *Scheduled) Close() error {
	if c, ok := s.fsys.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Open opens a file. It implements what the file below does of [io.Seeker], [fs.ReadDirFile] and [vfs.Advisor]; and
// [io.ReaderAt], [vfs.ContextReaderAt], [vfs.RangeReader] and [vfs.Later] if that can be read at any offset.
func (s *Scheduled) Open(name string) (fs.File, error) {
	f, err := look(s, judged, func() (fs.File, error) { return s.fsys.Open(name) })
	if err != nil {
		return nil, err
	}
	return s.opened(f), nil
}

// Stat describes what the name leads to, links followed.
func (s *Scheduled) Stat(name string) (fs.FileInfo, error) {
	return look(s, judged, func() (fs.FileInfo, error) { return fs.Stat(s.fsys, name) })
}

// Lstat describes what bears the name, a link itself if it is one.
func (s *Scheduled) Lstat(name string) (fs.FileInfo, error) {
	return look(s, judged, func() (fs.FileInfo, error) { return fs.Lstat(s.fsys, name) })
}

// ReadLink returns what a symbolic link says, wherever that leads.
func (s *Scheduled) ReadLink(name string) (string, error) {
	return look(s, judged, func() (string, error) { return fs.ReadLink(s.fsys, name) })
}

// ReadDir lists a directory, sorted by name.
func (s *Scheduled) ReadDir(name string) ([]fs.DirEntry, error) {
	return look(s, notJudged, func() ([]fs.DirEntry, error) { return fs.ReadDir(s.fsys, name) })
}

// Describe implements [vfs.DescribeFS]. If looks are answered late, it has up to Depth of them in flight.
func (s *Scheduled) Describe(dir string, wanted func(name string) bool) ([]vfs.Described, error) {
	if d, ok := s.fsys.(vfs.DescribeFS); ok && !isLister(s.fsys) {
		return look(s, notJudged, func() ([]vfs.Described, error) { return d.Describe(dir, wanted) })
	}
	l, err := look(s, notJudged, func() (*listing, error) { return listed(s.fsys, dir) })
	if l == nil {
		return nil, err
	}
	defer l.close()
	found := l.wanted(wanted)
	s.lookAtAll(found, l.stat)
	return found, err
}

// lookAtAll describes the entries: in turn until an answer is late, and all others at once.
func (s *Scheduled) lookAtAll(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) {
	for late := s.queue.looks.pace.late(); len(found) > 0; {
		if late {
			s.lookAtOnce(found, stat)
			return
		}
		n := 0
		n, late = s.lookInTurn(found[:min(len(found), inTurn)], stat)
		found = found[n:]
	}
}

// lookInTurn describes entries in one slot, until an answer is late. It returns how many were described, and whether the last
// answer was late.
func (s *Scheduled) lookInTurn(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) (n int, late bool) {
	slot, _ := s.queue.enter(context.Background())
	var took [inTurn]time.Duration
	for begin := s.queue.now(); n < len(found) && !late; n++ {
		found[n].Info, found[n].Err = stat(found[n].DirEntry)
		end := s.queue.now()
		took[n], begin = end-begin, end
		late = s.queue.looks.pace.isLateAnswer(took[n], 0)
	}
	s.queue.leaveLooks(slot, took[:n])
	return n, late
}

// lookAtOnce describes the entries, as many at a time as there are slots.
func (s *Scheduled) lookAtOnce(found []vfs.Described, stat func(fs.DirEntry) (fs.FileInfo, error)) {
	var all sync.WaitGroup
	for i := range found {
		slot, _ := s.queue.enter(context.Background())
		all.Go(func() {
			s.queue.start(slot)
			found[i].Info, found[i].Err = stat(found[i].DirEntry)
			s.queue.leave(slot, &s.queue.looks, 0, judged)
		})
	}
	all.Wait()
}

// fewDescriptors is how often something is asked for again, a millisecond later, if the process has too many files open, and others
// are opening or listing something: they close what they have open soon.
const fewDescriptors = 100

const (
	judged    = true
	notJudged = false // it takes long for another reason, such as many entries, or is often answered from memory
)

// look asks for something as soon as there is a slot.
func look[T any](s *Scheduled, judge bool, ask func() (T, error)) (T, error) {
	slot, _ := s.queue.enter(context.Background())
	answer, err := ask()
	for range fewDescriptors {
		if !errors.Is(err, syscall.EMFILE) || s.queue.inFlight() == 1 {
			break
		}
		time.Sleep(time.Millisecond)
		answer, err = ask()
	}
	s.queue.leave(slot, &s.queue.looks, 0, judge)
	return answer, err
}

// Stats is what a Scheduled can tell about its source.
type Stats struct {
	Reads, Looks Answers
	Bytes        uint64 // that were read

	Depth    int           // how many requests may be in flight
	InFlight int           // how many are
	Most     int           // how many were, at most
	Oldest   time.Duration // how long the oldest request in flight has been waiting; 0 if there is none
	Late     bool          // whether reads are answered late
}

// Answers is how many requests of a kind were answered, and how long the answers of the last minute took: half of
// them at most P50, and 99 of 100 at most P99. Both are 0 if there were none, and exact to 12 %.
type Answers struct {
	Count    uint64
	P50, P99 time.Duration
}

// Stats returns what there is to know now.
func (s *Scheduled) Stats() Stats { return s.queue.stats() }
