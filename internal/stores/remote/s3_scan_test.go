package remote

import (
	"encoding/xml"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// listings are answers of servers, and what is unusual in them. plain says whether scanListing reads them.
var listings = []struct {
	name  string
	plain bool
	body  string
}{
	{"AWS", true, `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>p%2F</Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys>` +
		`<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>` +
		`<Contents><Key>p/a%20b</Key><LastModified>2024-05-06T07:08:09.000Z</LastModified><ETag>&quot;0f&quot;</ETag><ChecksumAlgorithm>CRC32</ChecksumAlgorithm>` +
		`<Size>3</Size><StorageClass>STANDARD</StorageClass><Owner><ID>1</ID><DisplayName>x &amp; y</DisplayName></Owner></Contents>` +
		`<CommonPrefixes><Prefix>p/x/</Prefix></CommonPrefixes></ListBucketResult>`},
	{"lines", true,
		"<ListBucketResult>\n  <Contents>\n    <Key>a</Key>\n    <Size> 3 </Size>\n    <ETag>&#34;x&#39;&lt;&gt;&apos;&#34;</ETag>\n  </Contents>\n</ListBucketResult>\n"},
	{"a key twice", true, "<ListBucketResult><Contents><Key>a</Key><Key>b</Key></Contents></ListBucketResult>"},
	{"times", true,
		"<ListBucketResult><Contents><Key>a</Key><LastModified>2024-05-06T07:08:09.123Z</LastModified></Contents><Contents><LastModified>2024-05-06T7:08:09+02:00" +
			"</LastModified></Contents><Contents><LastModified> 2024-05-06T07:08:09Z</LastModified></Contents><Contents><LastModified>&lt;</LastModified></Contents>" +
			"<Contents><LastModified>2024-05-06T07:08:09Z</LastModified><LastModified>never</LastModified></Contents></ListBucketResult>"},
	{"a time with another entity", false,
		"<ListBucketResult><Contents><LastModified>&#50;024-05-06T07:08:09Z</LastModified></Contents></ListBucketResult>"},
	{"quotes", true,
		"<ListBucketResult><Contents><ETag>&quot;</ETag></Contents><Contents><ETag>&quot;&quot;</ETag></Contents><Contents><ETag>&#34;a&amp;b&#34;</ETag></Contents>" +
			"<Contents><ETag>&quot;a&#34;</ETag></Contents></ListBucketResult>"},
	{"no objects", true, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"},
	{"after the end", true, "<ListBucketResult></ListBucketResult><x>"},
	{"not ASCII", false, "<ListBucketResult><Contents><Key>ä</Key></Contents></ListBucketResult>"},
	{"another entity", false, "<ListBucketResult><Contents><Key>&#65;&amp;amp;</Key></Contents></ListBucketResult>"},
	{"an entity of an entity", true,
		"<ListBucketResult><Contents><Key>&amp;lt;&amp;#34;</Key></Contents></ListBucketResult>"},
	{"no entity", false, "<ListBucketResult><Contents><Key>a & b</Key></Contents></ListBucketResult>"},
	{"a comment", false, "<ListBucketResult><!-- <Contents> --><Contents><Key>a</Key></Contents></ListBucketResult>"},
	{"a comment in a key", false, "<ListBucketResult><Contents><Key>a<!-- x -->b</Key></Contents></ListBucketResult>"},
	{"CDATA", false, "<ListBucketResult><Contents><Key><![CDATA[a<b]]></Key></Contents></ListBucketResult>"},
	{"a prefix", false,
		`<s:ListBucketResult xmlns:s="x"><s:Contents><s:Key>a</s:Key></s:Contents></s:ListBucketResult>`},
	{"attributes", false, `<ListBucketResult><Contents a="b"><Key>a</Key></Contents></ListBucketResult>`},
	{"an empty element", false, `<ListBucketResult><Contents><Key>a</Key><ETag/></Contents></ListBucketResult>`},
	{"a carriage return", false, "<ListBucketResult><Contents><Key>a\r\nb</Key></Contents></ListBucketResult>"},
	{"text beside elements", false, "<ListBucketResult>x<Contents><Key>a</Key></Contents></ListBucketResult>"},
	{"elements in a key", false, "<ListBucketResult><Contents><Key>a<b>c</b>d</Key></Contents></ListBucketResult>"},
	{"a wrong end", false, "<ListBucketResult><Contents><Key>a</Size></Contents></ListBucketResult>"},
	{"a wrong end of what is skipped", false, "<ListBucketResult><Owner><ID>1</Owner></ID></ListBucketResult>"},
	{"cut short", false, "<ListBucketResult><Contents><Key>a</Key></Contents>"},
	{"an empty size", false, "<ListBucketResult><Contents><Key>a</Key><Size></Size></Contents></ListBucketResult>"},
	{"a wrong size", false, "<ListBucketResult><Contents><Key>a</Key><Size>x</Size></Contents></ListBucketResult>"},
	{"deep", false, "<ListBucketResult>" + strings.Repeat("<a>", 20) + strings.Repeat("</a>",
		20) + "</ListBucketResult>"},
	{"another document", false, "<Error><Code>x</Code></Error>"},
}

// agree fails if scanListing reads a listing in another way than encoding/xml. It returns whether scanListing reads it.
func agree(t *testing.T, body []byte) bool {
	t.Helper()
	got, ok := scanListing(body)
	if !ok {
		return false
	}
	var want listPage
	err := xml.Unmarshal(body, &want)
	if want.XMLName = (xml.Name{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, expected %+v, %v", body, got, want, err)
	}
	return true
}

// TestScanListing: plain listings are read as encoding/xml reads them. Others are left to it.
func TestScanListing(t *testing.T) {
	for _, c := range listings {
		if got := agree(t, []byte(c.body)); got != c.plain {
			t.Errorf("%s: scanned: %v", c.name, got)
		}
	}
}

func FuzzScanListing(f *testing.F) {
	for _, c := range listings {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}

// fullPage is a listing of 1,000 cubes as versitygw writes it.
func fullPage() []byte {
	var b strings.Builder
	b.WriteString(xmlProlog + "\n" +
		`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>`)
	for i := range 1000 {
		fmt.Fprintf(&b,
			"<Contents><ETag>&#34;17f0c4d2a5b3e8f1-%x&#34;</ETag><Key>z0/y0/x%d.wkw</Key><LastModified>2024-05-06T07:08:09.000Z</LastModified>"+
				"<Owner><ID>nobody</ID></Owner><Size>20016</Size><StorageClass>STANDARD</StorageClass></Contents>", i,
			i)
	}
	return []byte(b.String() + "</ListBucketResult>")
}

func BenchmarkListing(b *testing.B) {
	body := fullPage()
	for _, c := range []struct {
		name  string
		parse func(*listPage) error
	}{
		{"plain", func(l *listPage) (err error) { *l, err = parseListing(body); return err }},
		{"encoding/xml", func(l *listPage) error { return xml.Unmarshal(body, l) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				var l listPage
				if err := c.parse(&l); err != nil || len(l.Objects) != 1000 {
					b.Fatal(len(l.Objects), err)
				}
			}
		})
	}
}
