package log

import (
	"errors"
	"testing"
)

func TestStateDir(t *testing.T) {
	for _, test := range []struct {
		uid                int
		service, xdg, home string
		want               string // "": an error
	}{
		{0, "", "/x", "/root", "/var/log/wkwfs"},
		{0, "/var/lib/a", "/x", "/root", "/var/lib/a"},
		{0, "/var/lib/a:/var/lib/b", "", "", "/var/lib/a"},
		{0, "relative", "", "", "/var/log/wkwfs"},
		{1000, "", "/x", "/home/ada", "/x/wkwfs"},
		{1000, "", "", "/home/ada", "/home/ada/.local/state/wkwfs"},
		{1000, "", "relative", "/home/ada", "/home/ada/.local/state/wkwfs"},
		{1000, "/run/a", "/x", "/home/ada", "/run/a"},
		{1000, "", "", "", ""},
		{1000, "", "relative", ".", ""},
	} {
		variables := map[string]string{"STATE_DIRECTORY": test.service, "XDG_STATE_HOME": test.xdg, "HOME": test.home}
		got, err := stateDir(func(name string) string { return variables[name] }, test.uid)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%+v: got %q, %v", test, got, err)
		}
	}
}

func TestPlaceText(t *testing.T) {
	for _, test := range []struct {
		place Place
		want  string
	}{
		{Place{Kind: Stderr}, "stderr"},
		{Place{Kind: Journal}, "journalctl -t wkwfs"},
		{Place{Kind: Syslog}, "syslog"},
		{Place{Kind: File, File: "/a b"}, "/a b"},
		{Place{Kind: Nowhere, Err: errors.New("full")}, "lost (--log-file FILE keeps it): full"},
	} {
		if got := test.place.String(); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.place, got, test.want)
		}
	}
}
