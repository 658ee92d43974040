package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/host/settings"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/serve/nfs"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// nfsSettings are the settings of a server over NFS.
type nfsSettings struct {
	from         sourceFlags
	diskCache    diskCacheFlags
	source       string
	listen       string
	trustClients bool
	listBlocks   bool
	cacheSize    settings.Size
	unit         settings.Unit
	log          log.Options
}

const defaultListenNFS = "127.0.0.1:20490"

func newNFSCommand() *cobra.Command {
	s := nfsSettings{cacheSize: defaultCacheSize}
	cmd := &cobra.Command{
		Use:   "nfs [flags] SOURCE",
		Short: "Serve a dataset over NFS, for machines without FUSE",
		Long: `Serve over NFS version 3 what a mount of SOURCE would show, until SIGINT or SIGTERM.
Clients need no FUSE. One port has NFS and MOUNT. Every directory of the tree can be
mounted.
` + sourceHelp + `

Without --listen, only this machine can connect, and each process reads what its user may
read. Other machines only say who their users are, and anybody can say anything. So
--listen at another address needs --trust-clients. Root of another machine is nobody.

The directories of single blocks (x0.blocks) are not listed, because some clients walk the
whole tree. They can be opened by name. --list-blocks lists them.`,
		Example: `  wkwfs nfs /data/cortex
  nfs-ls 'nfs://127.0.0.1/color/1?nfsport=20490&mountport=20490'
  mount -t nfs -o ro,vers=3,tcp,nolock,soft,port=20490,mountport=20490 127.0.0.1:/ /mnt`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.source = args[0]
			if err := settings.Settle(cmd.Flags(), s.source); err != nil {
				return err
			}
			if err := fitCache(cmd.Flags(), &s.cacheSize, thisMemory()); err != nil {
				return err
			}
			ctx, stop := untilSignal()
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	s.from.register(flags)
	s.diskCache.register(flags)
	settings.RegisterConfig(flags)
	flags.StringVar(&s.listen, "listen", defaultListenNFS, "listen at `HOST:PORT`; port 0 is any free port")
	flags.BoolVar(&s.trustClients, "trust-clients", false,
		"let other machines connect, and believe them who their users are")
	flags.BoolVar(&s.listBlocks, "list-blocks", false, "list the directories of single blocks, too")
	flags.Var(&s.cacheSize, cacheSizeFlag, "memory for decoded blocks, such as 512MiB or 4GB")
	registerUnit(flags, &s.unit)
	registerLog(flags, &s.log)
	return cmd
}

// run serves until ctx is done.
func (s *nfsSettings) run(ctx context.Context, stdout, stderr io.Writer) error {
	address, err := s.address()
	if err != nil {
		return err
	}
	path, err := realSource(s.source)
	if err != nil {
		return err
	}
	logger, _, err := newLogger(s.log, stderr)
	if err != nil {
		return err
	}
	tuneRuntime(int64(s.cacheSize))
	disk, err := s.diskCache.open(logger)
	if err != nil {
		return err
	}
	defer disk.close()
	opened, err := s.open(path, disk, logger)
	if err != nil {
		return err
	}
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return hint.Errorf("choose another place with --listen HOST:PORT; port 0 is any free port", "%w", err)
	}
	// Never closed: Close waits for loads, and a disk that does not answer must not keep the server from ending.
	blocks := cache.New(int64(s.cacheSize))
	lookForGaps(opened, path, blocks, logger)
	tree := view.New(opened.Root, view.Options{Cache: blocks, Log: logger, Unit: header.Unit(s.unit),
		HideBlocks: !s.listBlocks, DurableVersions: true})
	if err := s.announce(listener.Addr(), stdout, logger); err != nil {
		return errors.Join(err, listener.Close())
	}
	return nfs.New(tree, nfs.Options{FSID: fsid(path), Log: logger}).Serve(ctx, listener)
}

// open opens a source that other users read, too, through the disk cache if it has a URL.
func (s *nfsSettings) open(path string, disk *diskCache, logger *slog.Logger) (*dataset.Dataset, error) {
	o := s.from.options(logger)
	o.Shared, o.DiskCache = true, disk.kept
	return openSource(path, o)
}

// fsid returns a number for the file system of a source.
func fsid(path string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	return h.Sum64()
}

// address returns where to listen. It refuses addresses that other machines can reach, unless clients are trusted.
func (s *nfsSettings) address() (*net.TCPAddr, error) {
	if _, _, err := net.SplitHostPort(s.listen); err != nil {
		return nil, hint.Usagef("write it like "+defaultListenNFS, "--listen: %q is not HOST:PORT", s.listen)
	}
	address, err := net.ResolveTCPAddr("tcp", s.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if !address.IP.IsLoopback() && !s.trustClients {
		return nil, hint.Usagef("--trust-clients, in a network whose machines you trust",
			"--listen: other machines can reach %s, and can claim to be any user", s.listen)
	}
	return address, nil
}

// announce prints the URL of the server as libnfs' programs take it, and warns if other machines can connect.
func (s *nfsSettings) announce(address net.Addr, stdout io.Writer, logger *slog.Logger) error {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("listening at %v: not an address of TCP", address)
	}
	if !tcp.IP.IsLoopback() {
		logger.Warn("other machines can connect, and their users can claim to be any user but root", "listen",
			address.String())
	}
	host, err := announcedHost(tcp)
	if err != nil {
		return err
	}
	port := strconv.Itoa(tcp.Port)
	place := url.URL{Scheme: "nfs", Host: host, Path: "/", RawQuery: "nfsport=" + port + "&mountport=" + port}
	if _, err := fmt.Fprintln(stdout, place.String()); err != nil {
		return err
	}
	return daemon.FindManager().Ready()
}
