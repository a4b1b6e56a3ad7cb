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
