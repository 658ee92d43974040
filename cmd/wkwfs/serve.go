package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// serveSettings are the settings of a server over HTTP.
type serveSettings struct {
	webSettings
	listen       string
	token        string
	tokenFile    string
	origins      []string
	hosts        []string
	neuroglancer string
}

const defaultListen = "127.0.0.1:9090"

func newServeCommand() *cobra.Command {
	var s serveSettings
	cmd := &cobra.Command{
		Use:   "serve [flags] SOURCE",
		Short: "Serve a dataset over HTTP, for browsers and programs",
		Long: `Serve over HTTP what a mount of SOURCE would show, until SIGINT or SIGTERM. Files have
byte ranges and ETags. Directories are JSON, or a page in a browser. The start page shows
the layers and opens them in Neuroglancer, which is part of this program. To look at a
dataset once, use wkwfs view.
` + sourceHelp + `

Without --listen, only this machine can connect. Scripts of other web sites cannot read,
unless --allow-origin or --neuroglancer names the site. With a token, only readers that
send it can read: as "Authorization: Bearer TOKEN", or as ?token=TOKEN in a link. Other
users can see a token on the command line, so use --token-file, or ` + settings.TokenVariable + `
in the environment.

` + viewerHelp,
		Example: `  wkwfs serve /data/cortex
  curl -s http://127.0.0.1:9090/color/1/box/0-64_0-64_0-64.npy -o corner.npy
  wkwfs serve --listen 0.0.0.0:9090 --token-file ~/.wkwfs-token /data/cortex`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source = args[0]
			if err := s.settle(cmd.Flags()); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.register(flags)
	registerUnit(flags, &s.unit)
	flags.StringVar(&s.listen, "listen", defaultListen, "listen at `HOST:PORT`; port 0 is any free port")
	flags.StringVar(&s.token, "token", "", "serve only requests with `TOKEN`")
	flags.StringVar(&s.tokenFile, "token-file", "", "read the token from `FILE`")
	flags.StringSliceVar(&s.origins, "allow-origin", nil,
		"let scripts of `SITE` read, such as https://example.org; * is all sites")
	flags.StringSliceVar(&s.hosts, "host", nil,
		"also answer requests for `NAME`, such as a proxy's name (else: localhost and the addresses of this machine)")
	flags.StringVar(&s.neuroglancer, "neuroglancer", builtIn,
		"open layers in the Neuroglancer at `URL`, and let its scripts read; none if empty")
	return cmd
}

// check checks the settings and finds the token.
func (s *serveSettings) check() error {
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return hint.Usagef("write it like "+defaultListen, "--listen: %q is not HOST:PORT", s.listen)
	}
	for _, origin := range s.origins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" ||
			origin != u.Scheme+"://"+u.Host) {
			return hint.Usagef("write it like https://example.org", "--allow-origin: %q is not a site", origin)
		}
	}
	for _, name := range s.hosts {
		if strings.ContainsAny(name, "/: ") {
			return hint.Usagef("write it like data.example.org, without http:// and port",
				"--host: %q is not the name of a server", name)
		}
	}
	if _, err := s.viewer(); err != nil {
		return err
	}
	return s.findToken()
}

// findToken finds and checks the token.
func (s *serveSettings) findToken() error {
	where := "--token"
	switch {
	case s.token != "" && s.tokenFile != "":
		return hint.Usagef("leave one of them out", "--token and --token-file are both given")
	case s.tokenFile != "":
		where = s.tokenFile
		b, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if s.token = strings.TrimSpace(string(b)); s.token == "" {
			return hint.Errorf("openssl rand -hex 16 > "+hint.Quote(s.tokenFile), "--token-file: %s: empty",
				s.tokenFile)
		}
	case s.token == "":
		where = settings.TokenVariable
		s.token = os.Getenv(settings.TokenVariable)
	}
	for _, c := range s.token {
		if c <= ' ' || c > '~' {
			return hint.Usagef("openssl rand -hex 16 makes a good one",
				"%s: expected visible ASCII characters in the token, found %q", where, c)
		}
	}
	return nil
}

// viewer returns the viewer that --neuroglancer chooses.
func (s *serveSettings) viewer() (viewerChoice, error) {
	u, err := url.Parse(s.neuroglancer)
	switch {
	case s.neuroglancer == builtIn:
		return defaultViewer(), nil
	case s.neuroglancer == "":
		return viewerChoice{}, nil
	case err != nil || u.Host == "" || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https":
		return viewerChoice{}, hint.Usagef("write it like "+publicNeuroglancer,
			"--neuroglancer: %q is not the address of a viewer", s.neuroglancer)
	}
	return viewerChoice{url: s.neuroglancer}, nil
}

// run serves until ctx is done.
func (s *serveSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	viewer, err := s.viewer()
	if err != nil {
		return err
	}
	site, err := s.open(stderr, nil, viewer)
	if err != nil {
		return err
	}
	defer site.close()
	site.options.Token = s.token
	site.options.Origins = append(site.options.Origins, s.origins...)
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return hint.Errorf("choose another place with --listen HOST:PORT; port 0 is any free port", "%w", err)
	}
	if err := s.announce(listener.Addr(), stdout, site.log); err != nil {
		return errors.Join(err, listener.Close())
	}
	return site.serve(ctx, listener, s.names(listener.Addr()))
}

// names returns the names that the server answers to, besides its addresses: those of --host and, if it listens at all
// addresses, the name of this machine.
func (s *serveSettings) names(listening net.Addr) []string {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return s.hosts
	}
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		return append(slices.Clone(s.hosts), name, short)
	}
	return s.hosts
}

// announce prints the URL of the server, and warns if everybody can read.
func (s *serveSettings) announce(address net.Addr, stdout io.Writer, logger *slog.Logger) error {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("listening at %v: not an address of TCP", address)
	}
	if !tcp.IP.IsLoopback() && s.token == "" {
		logger.Warn("there is no token: EVERYBODY who can reach this machine can read the source", "listen",
			address.String(), "hint", "--token-file")
	}
	host, err := announcedHost(tcp)
	if err != nil {
		return err
	}
	place := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(tcp.Port)), Path: "/"}
	if s.token != "" {
		place.RawQuery = "token=TOKEN" // the token itself is secret
	}
	if _, err := fmt.Fprintln(stdout, place.String()); err != nil {
		return err
	}
	return daemon.FindManager().Ready()
}

// announcedHost returns the host of a server for its URL: the name of this machine, if it listens at all addresses.
func announcedHost(tcp *net.TCPAddr) (string, error) {
	if tcp.IP.IsUnspecified() {
		return os.Hostname()
	}
	return tcp.IP.String(), nil
}
