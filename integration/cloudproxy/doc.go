// Package cloudproxy stands between wkwfs and a server of objects, and makes the server behave badly. Tests and the
// benchmark use it.
//
// A [Proxy] passes each HTTP request to the server, with the same Host, so that signatures stay valid. Its [Rules] say
// how late answers are, how fast bodies are, and which requests get a [Fault]. The rules may change at any time.
// Requests that were accepted before keep the old ones. The proxy keeps a record of each request.
package cloudproxy
