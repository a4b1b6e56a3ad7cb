// Package refusal knows how each provider writes an error, so that clients show the proxy's own
// errors like those of the provider. It does not know why a request is refused.
package refusal

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// A Shape is the form of the errors of an API.
type Shape uint8

// The shapes.
const (
	OpenAI    Shape = iota // {"error":{"message","type","param","code"}}
	Anthropic              // {"type":"error","error":{"type","message"}}
	Google                 // {"error":{"code","message","status"}}
	Amazon                 // {"message"}, and the type in a header
)

// A Refusal is an error that the proxy answers itself.
type Refusal struct {
	Status  int
	Message string
	Code    string // what is wrong, in one word, "" for nothing in the request
	Param   string // the place in the request, "" if it is about none
}

// A kind is what the APIs call a status.
type kind struct{ openAI, anthropic, google, amazon string }

// kinds lists the statuses that the proxy answers. Any other one counts as 500.
var kinds = map[int]kind{
	http.StatusBadRequest:       {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "ValidationException"},
	http.StatusForbidden:        {"invalid_request_error", "permission_error", "PERMISSION_DENIED", "AccessDeniedException"},
	http.StatusNotFound:         {"invalid_request_error", "not_found_error", "NOT_FOUND", "ResourceNotFoundException"},
	http.StatusMethodNotAllowed: {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "ValidationException"},
	http.StatusRequestTimeout:   {"invalid_request_error", "invalid_request_error", "DEADLINE_EXCEEDED", "RequestTimeoutException"},
	http.StatusBadGateway:       {"server_error", "api_error", "UNAVAILABLE", "ServiceUnavailableException"},
}

// Write writes a refusal in a shape.
func (r Refusal) Write(w http.ResponseWriter, s Shape) {
	k, ok := kinds[r.Status]
	if !ok {
		k = kind{"server_error", "api_error", "INTERNAL", "InternalServerException"}
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if s == Amazon {
		header.Set("X-Amzn-Errortype", k.amazon)
	}
	body := r.body(s, k)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(r.Status)
	_, _ = w.Write(body) // a client that is gone misses nothing
}

// body returns the JSON of a refusal.
func (r Refusal) body(s Shape, k kind) []byte {
	var v any
	switch s {
	case Anthropic:
		type inner struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}
		v = struct {
			Type  string `json:"type"`
			Error inner  `json:"error"`
		}{"error", inner{k.anthropic, r.Message}}
	case Google:
		type inner struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Status  string `json:"status"`
		}
		v = struct {
			Error inner `json:"error"`
		}{inner{r.Status, r.Message, k.google}}
	case Amazon:
		v = struct {
			Message string `json:"message"`
		}{r.Message}
	default:
		type inner struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		}
		v = struct {
			Error inner `json:"error"`
		}{inner{r.Message, k.openAI, orNull(r.Param), orNull(r.Code)}}
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers have a JSON form
	}
	return b
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
