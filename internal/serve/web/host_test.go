package web_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

func TestHost(t *testing.T) {
	everywhere := &net.TCPAddr{IP: net.IPv6zero, Port: 9090}
	one := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9090}
	for _, test := range []struct {
		listening net.Addr
		names     []string
		host      string
		status    int
	}{
		{one, nil, "127.0.0.1", 200},
		{one, nil, "127.0.0.1:9090", 200},
		{one, nil, "127.0.0.1:80", 200}, // through a tunnel
		{one, nil, "[::ffff:127.0.0.1]:9090", 200},
		{one, nil, "LocalHost:9090", 200},
		{one, nil, "localhost.", 200},
		{one, nil, "evil.example", 421},
		{one, nil, "evil.example:9090", 421},
		{one, nil, "127.0.0.1.evil.example", 421},
		{one, nil, "localhost.evil.example", 421},
		{one, nil, "192.0.2.1:9090", 421},
		{one, nil, "[::1]:9090", 421},
		{one, []string{"brains.example"}, "Brains.Example:9090", 200},
		{one, []string{"brains.example"}, "evil.example", 421},
		{one, []string{"brains.example"}, "x.brains.example", 421},
		{everywhere, nil, "192.0.2.1:9090", 200},
		{everywhere, nil, "[2001:db8::1]:9090", 200},
		{everywhere, nil, "evil.example", 421},
		{&net.UnixAddr{Name: "/run/x.sock", Net: "unix"}, nil, "anything", 200},
	} {
		url := startHandler(t, web.CheckHost(web.Handler(newTree(), web.Options{}), test.listening, test.names...))
		request, err := http.NewRequestWithContext(t.Context(), "GET", url+"/ids.raw", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != test.status {
			t.Errorf("%v %q, Host %q: status %d, want %d", test.listening, test.names, test.host, reply.StatusCode,
				test.status)
		}
	}
}
