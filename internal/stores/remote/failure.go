package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// failure is a request that did not get the answer it should.
type failure struct {
	method, url string // the URL has no query
	status      int    // 0: no answer
	code        string // of the store, such as NoSuchKey
	text        string
	requestID   string
	attempts    int

	class error // what it means: fs.ErrNotExist, fs.ErrPermission, a syscall.Errno or vfs.ErrChanged

	temporary bool          // another attempt may succeed
	after     time.Duration // the server asks to wait for this long
	header    http.Header   // of the answer
	directory bool          // the server has redirected to the URL with "/" at its end
}

// failedIO is the class of failures without a better one.
const failedIO = syscall.EIO

// Unwrap returns the class of the failure alone. The causes of failed connections would have other classes.
func (f *failure) Unwrap() error { return f.class }

func (f *failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", f.method, f.url)
	if f.status != 0 {
		fmt.Fprintf(&b, "%d %s", f.status, http.StatusText(f.status))
		if f.code != "" || f.text != "" {
			b.WriteString(": ")
		}
	}
	switch {
	case f.code != "" && f.text != "":
		fmt.Fprintf(&b, "%s: %s", f.code, f.text)
	default:
		b.WriteString(f.code + f.text)
	}
	if f.requestID != "" {
		fmt.Fprintf(&b, " (request %s)", f.requestID)
	}
	if f.attempts > 1 {
		fmt.Fprintf(&b, " (attempt %d)", f.attempts)
	}
	return b.String()
}

const (
	maxErrorBody = 64 << 10 // how much of the body of an error is read, in bytes
	maxErrorTags = 200      // of XML in it
)

// refused returns the failure of an answer with a status that is not expected.
func refused(method string, at *url.URL, answer *http.Response) *failure {
	f := &failure{method: method, url: shown(at), status: answer.StatusCode, class: failedIO, header: answer.Header}
	f.directory = answer.Request != nil && isDirectory(at, answer.Request.URL)
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody)) // what there is
	f.code, f.text, f.requestID = errorBody(body)
	for _, name := range []string{"X-Amz-Request-Id", "X-Guploader-Uploadid", "X-Request-Id", "Cf-Ray"} {
		if f.requestID == "" {
			f.requestID = clean(answer.Header.Get(name))
		}
	}
	switch f.status {
	case http.StatusNotFound, http.StatusGone:
		if f.class = fs.ErrNotExist; f.code == "NoSuchBucket" || strings.Contains(f.text, "bucket does not exist") {
			f.class = failedIO // nothing in the bucket may read as absent
			f.code = "NoSuchBucket"
		}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		f.class = fs.ErrPermission
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.temporary = true
	case http.StatusBadRequest:
		f.temporary = f.code == "RequestTimeout"
	}
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16); err == nil {
		f.after = time.Duration(seconds) * time.Second
	}
	return f
}

// isDirectory reports whether a server has redirected to a URL with "/" at its end, as servers of files do for
// directories.
func isDirectory(asked, answered *url.URL) bool {
	return strings.HasSuffix(answered.Path, "/") && !strings.HasSuffix(asked.Path, "/")
}

// errorBody returns what the body of an error of S3 or of Google says.
func errorBody(body []byte) (code, text, requestID string) {
	var s3 struct {
		XMLName   xml.Name `xml:"Error"`
		Code      string
		Message   string
		RequestID string `xml:"RequestId"`
	}
	if checkMarkup(body, maxErrorTags) == nil && xml.Unmarshal(body, &s3) == nil {
		return clean(s3.Code), clean(s3.Message), clean(s3.RequestID)
	}
	var google struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	if json.Unmarshal(body, &google) == nil {
		if len(google.Error.Errors) > 0 {
			code = clean(google.Error.Errors[0].Reason)
		}
		return code, clean(google.Error.Message), ""
	}
	return "", "", ""
}

// clean returns text of a server as one short line.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.TrimSpace(text)
}

// unanswered returns the failure of a request without a usable answer. known says that the server has answered before:
// then a host that is unknown or refuses connections may come back.
func unanswered(method string, at *url.URL, err error, known bool) *failure {
	f := &failure{method: method, url: shown(at), class: failedIO, temporary: true}
	var wrapped *url.Error
	if errors.As(err, &wrapped) { // it repeats the URL, with the query
		err = wrapped.Err
	}
	f.text = clean(err.Error())
	var lookup *net.DNSError
	switch {
	case errors.Is(err, errRedirect), isCertificate(err), f.noNetwork(), f.longHeader():
		f.temporary = false
	case errors.As(err, &lookup) && lookup.IsNotFound, errors.Is(err, syscall.ECONNREFUSED):
		f.temporary = known
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		f.text = "the answer is cut short"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		f.text = "no answer in time"
	}
	return f
}

// noNetwork reports whether this process may not open sockets, as in a service with RestrictAddressFamilies=. An error
// of a lookup has only the text.
func (f *failure) noNetwork() bool {
	return strings.Contains(f.text, syscall.EAFNOSUPPORT.Error())
}

// longHeader reports whether the header of the answer was longer than [maxHeader]. Package http has only the text.
func (f *failure) longHeader() bool { return strings.Contains(f.text, "response headers exceeded") }

// isCertificate reports whether the certificate of the server is not accepted.
func isCertificate(err error) bool {
	var verification *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &invalid) ||
		errors.As(err, &name)
}

// shown returns a URL for messages: without user, password, query and fragment.
func shown(u *url.URL) string { return Display(u.String()) }

// advise returns the failure with a hint, if one is known.
func (f *failure) advise(credentials string) error {
	if h := f.hint(credentials); h != "" {
		return &hint.Error{Err: f, Hint: h}
	}
	return f
}

// hint returns what to do. credentials says where they come from.
func (f *failure) hint(credentials string) string {
	switch {
	case f.code == "NoSuchBucket":
		return "check the name of the bucket; --endpoint and --region choose the server"
	case f.code == "RequestTimeTooSkewed":
		return "the clock of this machine is wrong"
	case errors.Is(f.class, fs.ErrPermission):
		return credentials
	case f.status != 0:
		return ""
	case strings.Contains(f.text, "certificate has expired"):
		return "the certificate of the server has expired, or the clock of this machine is wrong"
	case strings.Contains(f.text, "x509: "):
		return "SSL_CERT_FILE names a file with the certificates to trust"
	case f.noNetwork():
		return "the service may not use the network: RestrictAddressFamilies=AF_INET AF_INET6 of systemd lets it"
	case strings.Contains(f.text, "no such host"), strings.Contains(f.text, "connection refused"),
		strings.Contains(f.text, "unreachable"):
		return "check the name of the server and the network; HTTPS_PROXY names a proxy"
	}
	return ""
}
