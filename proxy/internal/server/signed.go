package server

import (
	"net/http"
	"strings"
)

// signed reports whether a signature covers the body of a request, so that a repaired body would be
// refused: AWS Signature Version 4 in a header or in the query, or RFC 9421.
func signed(r *http.Request) bool {
	for _, value := range r.Header.Values("Authorization") {
		if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(value)), "AWS4-") {
			return true
		}
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if strings.EqualFold(key, "X-Amz-Signature") {
			return true
		}
	}
	return r.Header.Get("Signature") != "" && r.Header.Get("Signature-Input") != ""
}

// stays returns a request without the offer to go on in another protocol, which a server may
// ignore. Some clients offer HTTP/2 with every request, and the body of such a request is one as
// any other.
func stays(r *http.Request) *http.Request {
	if r.Header.Get("Upgrade") == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Upgrade")
	return r
}

// offers reports whether a request offers to go on in a protocol.
func offers(r *http.Request, protocol string) bool {
	for _, value := range r.Header.Values("Upgrade") {
		for token := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(token), protocol) {
				return true
			}
		}
	}
	return false
}

// upgrades reports whether a request asks for another protocol, such as a WebSocket.
func upgrades(r *http.Request) bool {
	for _, value := range r.Header.Values("Connection") {
		for token := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return r.Header.Get("Upgrade") != ""
			}
		}
	}
	return false
}
