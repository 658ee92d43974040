package nml

import (
	"errors"
	"strings"
	"testing"
)

// TestChange: attributes of volumes get other values, and all else stays as it is.
func TestChange(t *testing.T) {
	const before = "<?xml version=\"1.0\"?>\n<things><!-- <volume location=\"a\"/> --><volume id='0'  location = \"a.zip\"\n name=\"x &gt; y\"/>" +
		"<volume id=\"1\" fallbackLayer=\"location=\"><segments/></volume >\n<volume/></things>\n"
	const after = "<?xml version=\"1.0\"?>\n<things><!-- <volume location=\"a\"/> --><volume id='0'  location = \"0&amp;&#34;.zip\"\n name=\"x &gt; y\" n=\"1\"/>" +
		"<volume id=\"1\" fallbackLayer=\"location=\" location=\"1&amp;&#34;.zip\" n=\"1\"><segments/></volume >\n<volume location=\"2&amp;&#34;.zip\" n=\"1\"/></things>\n"
	var seen []string
	got, err := Change([]byte(before), func(i int, a map[string]string) (map[string]string, error) {
		seen = append(seen, a["id"]+a["name"])
		return map[string]string{"location": string(rune('0'+i)) + `&".zip`, "n": "1"}, nil
	})
	if err != nil || string(got) != after {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, after)
	}
	if strings.Join(seen, "|") != "0x > y|1|" {
		t.Errorf("got %q", seen)
	}
	same, err := Change([]byte(before), func(int, map[string]string) (map[string]string, error) { return nil, nil })
	if err != nil || string(same) != before {
		t.Errorf("without a change: got %v\n%s", err, same)
	}
	broken := errors.New("broken")
	if _, err := Change([]byte(before), func(int, map[string]string) (map[string]string,
		error) {
		return nil, broken
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
	for _, bad := range []string{"<volume location=a/>", "<volume location/>", "<volume location=\"a/>", "<things"} {
		if got, err := Change([]byte(bad), func(int, map[string]string) (map[string]string, error) {
			return map[string]string{"location": "x"}, nil
		}); err == nil {
			t.Errorf("%s: got %s", bad, got)
		}
	}
}

// FuzzChange: whatever the file is, what Change returns has the values that were set.
func FuzzChange(f *testing.F) {
	f.Add("<things><volume id=\"0\" location='a.zip'/><volume/></things>")
	f.Fuzz(func(t *testing.T, file string) {
		n := 0
		set := func(int, map[string]string) (map[string]string, error) {
			n++
			return map[string]string{"location": "<&>'\""}, nil
		}
		out, err := Change([]byte(file), set)
		if err != nil {
			return
		}
		_, err = Change(out, func(i int, a map[string]string) (map[string]string, error) {
			if n--; a["location"] != "<&>'\"" {
				t.Errorf("volume %d: got %q in %s", i, a["location"], out)
			}
			return nil, nil
		})
		if err != nil || n != 0 {
			t.Errorf("%v, %d volumes too few: %s", err, n, out)
		}
	})
}
