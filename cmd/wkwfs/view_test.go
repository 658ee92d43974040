package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/serve/viewer"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// writeSmall writes a small dataset of the name cortex. wkwfs sample takes seconds.
func writeSmall(t *testing.T) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "cortex")
	o := sample.Defaults()
	o.Box = volume.Box{Min: volume.Vec{10, 20, 30}, Max: volume.Vec{50, 54, 49}}
	o.Block, o.CubeSide, o.Mags, o.Unrecorded = 16, 32, []int{1}, volume.Box{}
	if err := sample.Write(t.Context(), source, o); err != nil {
		t.Fatal(err)
	}
	return source
}

// startView runs the command on a sample, and returns the link that it prints and the rest of its output. It ends the
// command with the test.
func startView(t *testing.T) (link, advice string) {
	t.Helper()
	source := writeSmall(t)
	s := viewSettings{webSettings: webSettings{source: source, cacheSize: 1 << 20}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	stdout, toStdout := io.Pipe()
	stderr, toStderr := io.Pipe()
	go func() {
		ended <- s.run(ctx, toStdout, toStderr)
		toStdout.Close()
		toStderr.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	lines := make(chan string, 16) // standard error is read at once: the command writes to it before the link, too
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			lines <- s.Text() + "\n"
		}
	}()
	link, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(advice, "opened in") && !strings.Contains(advice, "ssh -L") {
		line, ok := <-lines
		if !ok {
			t.Fatalf("the command ended after %q", advice)
		}
		advice += line
	}
	go func() {
		for range lines { // until the command ends
		}
	}()
	return strings.TrimSpace(link), advice
}

// get requests a URL without following a redirection.
func get(t *testing.T, url string) (status int, location, body string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, reply.Header.Get("Location"), string(b)
}

// checkLink checks that a link opens the viewer, and that its token is needed.
func checkLink(t *testing.T, link string) {
	t.Helper()
	plain, _, _ := strings.Cut(link, "?")
	if status, _, _ := get(t, plain); status != 401 {
		t.Errorf("%s: status %d without the token", plain, status)
	}
	status, location, body := get(t, link)
	if viewer.Files() == nil {
		if status != 302 || !strings.HasPrefix(location, publicNeuroglancer+"#!") {
			t.Errorf("%s: status %d, to %s, without a viewer", link, status, location)
		}
		return
	}
	if status != 200 || !strings.Contains(body, "neuroglancer-container") {
		t.Errorf("%s: status %d: %s", link, status, body)
	}
	status, _, body = get(t, strings.Replace(link, "?", "state.json?", 1))
	if status != 200 || strings.Count(body, "/precomputed/?token=") != 2 {
		t.Errorf("state: status %d: %s", status, body)
	}
}

// fakeBrowser puts a program in the place of the browser. The function that it returns returns the argument of the
// program. It checks that no arguments of a process, and nothing in the environment of the browser, have the token of a
// link.
func fakeBrowser(t *testing.T) func(link string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ncd " + dir +
		"\nprintf %s \"$1\" >argument\ncat /proc/[0-9]*/cmdline /proc/$$/environ >new 2>/dev/null\nmv new seen\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":9")
	return func(link string) string {
		seen, err := os.ReadFile(filepath.Join(dir, "seen"))
		for limit := time.Now().Add(time.Minute); errors.Is(err, fs.ErrNotExist) &&
			time.Now().Before(limit); runtime.Gosched() {
			seen, err = os.ReadFile(filepath.Join(dir, "seen"))
		}
		argument, argumentErr := os.ReadFile(filepath.Join(dir, "argument"))
		if err := errors.Join(err, argumentErr); err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(link, "token=")
		if token == "" || !bytes.Contains(seen, argument) || bytes.Contains(seen, []byte(token)) {
			t.Errorf("the browser has the argument %s, and processes show %q", argument, seen)
		}
		return string(argument)
	}
}

// TestView: the command opens the browser. The arguments of the browser have no token. They open the viewer once.
func TestView(t *testing.T) {
	argument := fakeBrowser(t)
	link, advice := startView(t)
	if !strings.Contains(advice, "opened in the browser; Ctrl-C ends this") || strings.Contains(advice, "ssh") {
		t.Errorf("advice:\n%s", advice)
	}
	checkLink(t, link)
	opened := argument(link)
	if status, location, _ := get(t, opened); status != 303 || !strings.HasSuffix(link, location) || location == "" {
		t.Errorf("the browser opens %s, status %d; want %s", location, status, link)
	}
	if status, location, _ := get(t, opened); status != 410 || location != "" {
		t.Errorf("status %d for the second time, to %q", status, location)
	}
}

// TestViewWithoutDisplay: the command prints the line of ssh, also if no browser opens.
func TestViewWithoutDisplay(t *testing.T) {
	for _, display := range []string{"", ":9"} {
		t.Setenv("DISPLAY", display)
		t.Setenv("WAYLAND_DISPLAY", "")
		t.Setenv("PATH", t.TempDir()) // without xdg-open
		t.Setenv("SSH_CONNECTION", "192.0.2.7 50000 198.51.100.1 2222")
		link, advice := startView(t)
		checkLink(t, link)
		port, _, _ := strings.Cut(strings.TrimPrefix(link, "http://127.0.0.1:"), "/")
		if !strings.Contains(advice, "open the link in a browser of this machine") ||
			strings.Contains(advice, "did not open") != (display != "") {
			t.Errorf("display %q: advice:\n%s", display, advice)
		}
		if want := "ssh -L " + port + ":127.0.0.1:" + port + " -p 2222 "; !strings.Contains(advice, want) {
			t.Errorf("display %q: advice:\n%s\nwant %s", display, advice, want)
		}
	}
}

// TestBrowserPanics: after a panic beside the browser, the command prints how to open the link, and serves it.
func TestBrowserPanics(t *testing.T) {
	fakeBrowser(t)
	defer guard.Inject(func(place string) {
		if place == "view.browser" {
			panic("injected")
		}
	})()
	link, advice := startView(t)
	if !strings.Contains(advice, "the browser did not open: xdg-open: panic in view.browser: injected") ||
		!strings.Contains(advice, "open the link in a browser of this machine") {
		t.Errorf("advice:\n%s", advice)
	}
	checkLink(t, link)
}

func TestSSHLine(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for connection, want := range map[string]string{
		"":                                   "@" + host,
		"192.0.2.7 50000 198.51.100.1 22":    "@198.51.100.1",
		"192.0.2.7 50000 198.51.100.1 2222":  "@198.51.100.1",
		"2001:db8::7 50000 2001:db8::1 2222": "@2001:db8::1",
		"192.0.2.7":                          "@" + host,
	} {
		got := sshLine(func(string) string { return connection }, 4567)
		port := ""
		if strings.HasSuffix(connection, " 2222") {
			port = "-p 2222 "
		}
		if !strings.HasPrefix(got, "ssh -L 4567:127.0.0.1:4567 "+port) || !strings.HasSuffix(got, want) ||
			strings.Contains(got, "-p ") != (port != "") {
			t.Errorf("%q: %s, want %s", connection, got, want)
		}
	}
}

// TestViewerSites: the site of the Neuroglancer that a program opens may read, and no other. With the viewer of the
// program, no site may.
func TestViewerSites(t *testing.T) {
	source := writeSmall(t)
	files := fstest.MapFS{}
	for _, test := range []struct {
		viewer viewerChoice
		want   []string
	}{
		{viewerChoice{files: files}, nil},
		{viewerChoice{}, nil},
		{viewerChoice{url: publicNeuroglancer}, []string{"https://neuroglancer-demo.appspot.com"}},
		{viewerChoice{url: "http://host:8080/ng/?x=1"}, []string{"http://host:8080"}},
	} {
		s := webSettings{source: source, cacheSize: 1 << 20}
		site, err := s.open(io.Discard, nil, test.viewer)
		if err != nil {
			t.Fatal(err)
		}
		site.close()
		if !slices.Equal(site.options.Origins, test.want) ||
			(site.options.Viewer == nil) != (test.viewer.files == nil) {
			t.Errorf("%+v: sites %q, want %q", test.viewer, site.options.Origins, test.want)
		}
	}
	for flag, want := range map[string]viewerChoice{
		builtIn: defaultViewer(), "": {}, "http://host/": {url: "http://host/"},
	} {
		s := serveSettings{neuroglancer: flag}
		if got, err := s.viewer(); err != nil || got.url != want.url || (got.files == nil) != (want.files == nil) {
			t.Errorf("--neuroglancer %q: %+v, %v, want %+v", flag, got, err, want)
		}
	}
	if d := defaultViewer(); (d.files == nil) != (d.url == publicNeuroglancer) {
		t.Errorf("the viewer of this program is %+v", d)
	}
}
