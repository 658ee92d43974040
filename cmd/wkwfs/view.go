package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/compose/subset"
	"github.com/wkwfs/wkwfs/internal/serve/web"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// viewSettings are the settings of a server for one look.
type viewSettings struct {
	webSettings
	part subset.Options
}

func newViewCommand() *cobra.Command {
	var s viewSettings
	cmd := &cobra.Command{
		Use:   "view [flags] SOURCE",
		Short: "Show a dataset in the browser",
		Long: `Serve SOURCE at a free port of this machine, and open its layers in the browser, in the
Neuroglancer that is part of this program. It needs no internet. Ctrl-C ends it.
` + sourceHelp + `

The view shows all of the data. Images have the contrast of their coarsest mag, and
segmentations are segments. On a machine without a display, the command prints a link,
and the line of ssh that makes the link work on another machine. The link has a token:
other users of the machine cannot read without it.

` + viewerHelp,
		Example: `  wkwfs view /data/cortex
  wkwfs view --layer color --mag 4 /data/cortex`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source = args[0]
			if err := s.settle(cmd.Flags()); err != nil {
				return err
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.register(flags)
	flags.StringSliceVar(&s.part.Layers, "layer", nil, "show only `LAYER`; may be repeated")
	flags.StringVar(&s.part.Mag, "mag", "", "show only `MAG` of each layer, such as 4 or 4-4-2")
	return cmd
}

// run serves until ctx is done.
func (s *viewSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	viewer := defaultViewer()
	site, err := s.open(stderr, &s.part, viewer)
	if err != nil {
		return err
	}
	defer site.close()
	if viewer.files == nil {
		fmt.Fprintln(stderr, "wkwfs: this program has no viewer of its own, so the browser needs the internet: "+
			getViewer)
	}
	site.options.Token = rand.Text()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	place := url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: web.ViewerPath}
	link := place
	link.RawQuery = url.Values{"token": {site.options.Token}}.Encode()
	if _, err := fmt.Fprintln(stdout, link.String()); err != nil {
		return errors.Join(err, listener.Close())
	}
	var handler http.Handler = web.Handler(site.tree, site.options)
	opens := hasDisplay(os.Getenv)
	if opens {
		// All users of the machine see the arguments of the browser, so they have no token.
		handler, place.Path = web.OneTimeLink(handler, link.RequestURI(), ownRequest)
		if err := openBrowser(place.String()); err != nil {
			opens = false
			fmt.Fprintf(stderr, "wkwfs: the browser did not open: %v\n", hint.OneLine(err.Error()))
		}
	}
	fmt.Fprintln(stderr, viewAdvice(opens, port))
	return web.Serve(ctx, listener, web.CheckHost(handler, listener.Addr()), site.log)
}

// viewAdvice says what the user can do while the server runs.
func viewAdvice(opened bool, port int) string {
	if opened {
		return "wkwfs: opened in the browser; Ctrl-C ends this"
	}
	return fmt.Sprintf("wkwfs: open the link in a browser of this machine; Ctrl-C ends this\n"+
		"hint: to open it on another machine, run there: %s", sshLine(os.Getenv, port))
}

// sshLine returns the command that forwards the port from the machine of the user.
func sshLine(getenv func(string) string, port int) string {
	forward := fmt.Sprintf("ssh -L %d:127.0.0.1:%d ", port, port)
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username + "@"
	}
	// SSH_CONNECTION has the addresses of both ends: client, its port, server, its port.
	if c := strings.Fields(getenv("SSH_CONNECTION")); len(c) == 4 {
		if c[3] != "22" {
			forward += "-p " + c[3] + " "
		}
		return forward + name + c[2]
	}
	host, err := os.Hostname()
	if err != nil {
		host = "HOST"
	}
	return forward + name + host
}
