package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// CheckHost returns a handler that passes on requests whose Host is one of the server's names, and refuses others with
// status 421. So a web site cannot let its own name point to this machine and read, as scripts of the server's origin,
// what the server has (DNS rebinding).
//
// The names are localhost, the given ones, and the IP address that the connection came to. If the server listens at all
// addresses, every IP address is allowed: only names can be pointed elsewhere. Without an Internet address, as with a
// Unix socket, all hosts are allowed.
func CheckHost(next http.Handler, listening net.Addr, names ...string) http.Handler {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok {
		return next
	}
	all := tcp.IP.IsUnspecified()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostName(r.Host); !isHost(host, r, all) &&
			!slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, host) }) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.WriteHeader(http.StatusMisdirectedRequest)
			_, _ = w.Write([]byte("this server is not called " + host + "\n"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName returns the host of a Host header, without port, brackets and a dot at the end.
func hostName(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	}
	return strings.TrimSuffix(host, ".")
}

// isHost reports whether the host is localhost or an IP address of the server. all means that it listens at all
// addresses.
func isHost(host string, r *http.Request, all bool) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return all || ok && local.AddrPort().Addr().Unmap() == ip.Unmap()
}
