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
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/internal/web"
)

// webSettings is what the user asked of a server over HTTP.
type webSettings struct {
	from         sourceFlags
	config       configFlag
	source       string
	listen       string
	token        string
	tokenFile    string
	origins      []string
	neuroglancer string
	cacheSize    byteSize
	log          logFlags
}

const (
	defaultListen       = "127.0.0.1:9090"
	defaultNeuroglancer = "https://neuroglancer-demo.appspot.com/"
	// tokenVariable has the token where the command line should not.
	tokenVariable = "WKWFS_TOKEN"
)

func newServeCommand() *cobra.Command {
	s := webSettings{cacheSize: defaultCacheSize}
	cmd := &cobra.Command{
		Use:   "serve [flags] SOURCE",
		Short: "Show a dataset in the browser, and serve its files over HTTP",
		Long: `Serve what a mount of SOURCE would show over HTTP, until SIGINT or SIGTERM: every file
with byte ranges and ETag, every directory as JSON or, in a browser, as a page. The
start page shows the layers, and opens them in Neuroglancer.

Only this machine can connect, unless --listen says otherwise. Web sites that are open
in a browser on it can read too, as Neuroglancer has to; --allow-origin names those
that may, and a token keeps everybody else out. It is sent as "Authorization: Bearer
TOKEN", or in links as ?token=TOKEN. On the command line others can see it:
--token-file, or ` + tokenVariable + ` in the environment, are better places.`,
		Example: `  wkwfs serve /data/cortex
  curl -s http://127.0.0.1:9090/color/1/box/0-64_0-64_0-64.npy -o corner.npy
  wkwfs serve --listen 0.0.0.0:9090 --token-file ~/.wkwfs-token /data/cortex`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source = args[0]
			if err := s.config.settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			ctx, stop := endOfCopy()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.from.register(flags)
	s.config.register(flags)
	flags.StringVar(&s.listen, "listen", defaultListen, "listen at `HOST:PORT`; port 0 is any that is free")
	flags.StringVar(&s.token, "token", "", "let in only those who have `TOKEN`")
	flags.StringVar(&s.tokenFile, "token-file", "", "read the token from `FILE`")
	flags.StringSliceVar(&s.origins, "allow-origin", nil, "let scripts of `SITE` read, such as https://example.org (else: of all sites)")
	flags.StringVar(&s.neuroglancer, "neuroglancer", defaultNeuroglancer, "link to the Neuroglancer at `URL`; empty: to none")
	flags.Var(&s.cacheSize, "cache-size", "memory for decoded blocks, such as 512MiB or 4GB")
	s.log.register(flags)
	return cmd
}

// check completes the settings.
func (s *webSettings) check() error {
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return usageError("write it like "+defaultListen, "--listen: %q is not HOST:PORT", s.listen)
	}
	for _, origin := range s.origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return usageError("write it like https://example.org", "--allow-origin: %q is not a site", origin)
		}
	}
	if u, err := url.Parse(s.neuroglancer); err != nil || s.neuroglancer != "" && (u.Host == "" || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https") {
		return usageError("write it like "+defaultNeuroglancer, "--neuroglancer: %q is not the address of a viewer", s.neuroglancer)
	}
	return s.findToken()
}

// findToken takes the token from where it was given.
func (s *webSettings) findToken() error {
	where := "--token"
	switch {
	case s.token != "" && s.tokenFile != "":
		return usageError("leave one of them out", "--token and --token-file are both given")
	case s.tokenFile != "":
		where = s.tokenFile
		b, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if s.token = strings.TrimSpace(string(b)); s.token == "" {
			return hinted("openssl rand -hex 16 > "+shellWord(s.tokenFile), "--token-file: %s: empty", s.tokenFile)
		}
	case s.token == "":
		where = tokenVariable
		s.token = os.Getenv(tokenVariable)
	}
	for _, c := range s.token {
		if c <= ' ' || c > '~' {
			return usageError("openssl rand -hex 16 makes a good one", "%s: a token has visible ASCII characters, found %q", where, c)
		}
	}
	return nil
}

// run serves until ctx is done.
func (s *webSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	path, err := realPath(s.source)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	log, err := newLogger(s.log, false, stderr)
	if err != nil {
		return err
	}
	tuneRuntime(int64(s.cacheSize))
	source, err := openSource(path, s.from, log)
	if err != nil {
		return err
	}
	blocks := cache.New(int64(s.cacheSize))
	defer blocks.Close()
	handler := web.Handler(view.New(source.Root, view.Options{Cache: blocks, Log: log, Private: true}), web.Options{
		Name:         filepath.Base(path),
		Token:        s.token,
		Origins:      s.origins,
		Neuroglancer: s.neuroglancer,
		Log:          log,
	})
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return hinted("--listen HOST:PORT names another place; port 0 is any that is free", "%w", err)
	}
	if err := s.announce(listener.Addr(), stdout, log); err != nil {
		return errors.Join(err, listener.Close())
	}
	return web.Serve(ctx, listener, handler, log)
}

// announce says where the server is, and who can come in.
func (s *webSettings) announce(address net.Addr, stdout io.Writer, log *slog.Logger) error {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("listening at %v: not an address of TCP", address)
	}
	if !tcp.IP.IsLoopback() && s.token == "" {
		log.Warn("EVERYBODY who can reach this machine can read all of the source: there is no token", "listen", address.String(), "hint", "--token-file")
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		var err error
		if host, err = os.Hostname(); err != nil {
			return err
		}
	}
	place := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(tcp.Port)), Path: "/"}
	if s.token != "" {
		place.RawQuery = "token=TOKEN" // what it is, is nobody's business
	}
	if _, err := fmt.Fprintln(stdout, place.String()); err != nil {
		return err
	}
	return findManager(os.Getenv).notify(stateReady)
}
