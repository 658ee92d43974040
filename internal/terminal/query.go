package terminal

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Questions to a terminal. The last one is understood by every terminal, so its answer says that there are no others.
const (
	askKitty      = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\" // may a picture be shown?
	askCell       = "\x1b[16t"                                   // pixels of a cell
	askAttributes = "\x1b[c"                                     // DA1: what the terminal is; 4 is sixel
	eraseLine     = "\r\x1b[K"                                   // removes questions that were printed
)

const (
	answerTime = 2 * time.Second
	maxAnswer  = 4096 // bytes
	interrupt  = 3    // Ctrl-C
)

// question returns what to ask a terminal. tmux and screen pass pictures of kitty on, or lose them, and do not know where
// they are on the screen.
func question(name string) string {
	q := askCell + askAttributes + eraseLine
	if strings.HasPrefix(name, "screen") || strings.HasPrefix(name, "tmux") {
		return q
	}
	return askKitty + q
}

var (
	attributes = regexp.MustCompile(`\x1b\[\?([0-9;]*)c`)
	cellSize   = regexp.MustCompile(`\x1b\[6;([0-9]+);([0-9]+)t`)
	kittyOK    = []byte("\x1b_Gi=31;OK\x1b\\")
)

// apply sets what an answer says.
func (s *Screen) apply(answer []byte) {
	if m := cellSize.FindSubmatch(answer); m != nil {
		s.setCell(number(string(m[2])), number(string(m[1])))
	}
	m := attributes.FindSubmatch(answer)
	switch {
	case bytes.Contains(answer, kittyOK):
		s.Form = Kitty
	case m != nil && slices.Contains(strings.Split(string(m[1]), ";"), "4"):
		s.Form = Sixel
	}
}

// ErrInterrupted is the error of [Detect] after a Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// ask asks the controlling terminal and returns what it answers, without echo. It does not wait longer than answerTime. A
// terminal that cannot be asked has no answer. The error is [ErrInterrupted].
func ask(question string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil
	}
	defer tty.Close()
	raw, err := tty.SyscallConn()
	if err != nil {
		return nil, nil
	}
	var answer []byte
	var interrupted bool
	err = raw.Control(func(fd uintptr) {
		state, err := term.MakeRaw(int(fd))
		if err != nil {
			return
		}
		defer term.Restore(int(fd), state)
		if _, err := unix.Write(int(fd), []byte(question)); err != nil {
			return
		}
		answer, interrupted = readAnswer(int(fd))
		if !attributes.Match(answer) { // what comes late must not become a command
			discardInput(int(fd))
		}
	})
	if err == nil && interrupted {
		return nil, ErrInterrupted
	}
	return answer, nil
}

// readAnswer reads until the last answer or a Ctrl-C. The terminal must be raw.
func readAnswer(fd int) (answer []byte, interrupted bool) {
	end := time.Now().Add(answerTime)
	buf := make([]byte, 256)
	for len(answer) < maxAnswer && !attributes.Match(answer) {
		left := time.Until(end)
		if left <= 0 {
			return answer, false
		}
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(left.Milliseconds())+1)
		if err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return answer, false
		}
		n, err = unix.Read(fd, buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			return answer, false
		}
		if bytes.IndexByte(buf[:n], interrupt) >= 0 {
			return answer, true
		}
		answer = append(answer, buf[:n]...)
	}
	return answer, false
}
