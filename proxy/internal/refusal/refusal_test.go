package refusal

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShapes: each status in each shape.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		want   [4]string
		amazon string
	}{
		{400, [4]string{
			`{"error":{"message":"m\n\"","type":"invalid_request_error","param":"/p","code":"c"}}`,
			`{"type":"error","error":{"type":"invalid_request_error","message":"m\n\""}}`,
			`{"error":{"code":400,"message":"m\n\"","status":"INVALID_ARGUMENT"}}`,
			`{"message":"m\n\""}`,
		}, "ValidationException"},
		{403, [4]string{
			`{"error":{"message":"m\n\"","type":"invalid_request_error","param":"/p","code":"c"}}`,
			`{"type":"error","error":{"type":"permission_error","message":"m\n\""}}`,
			`{"error":{"code":403,"message":"m\n\"","status":"PERMISSION_DENIED"}}`,
			`{"message":"m\n\""}`,
		}, "AccessDeniedException"},
		{408, [4]string{
			`{"error":{"message":"m\n\"","type":"invalid_request_error","param":"/p","code":"c"}}`,
			`{"type":"error","error":{"type":"invalid_request_error","message":"m\n\""}}`,
			`{"error":{"code":408,"message":"m\n\"","status":"DEADLINE_EXCEEDED"}}`,
			`{"message":"m\n\""}`,
		}, "RequestTimeoutException"},
		{502, [4]string{
			`{"error":{"message":"m\n\"","type":"server_error","param":"/p","code":"c"}}`,
			`{"type":"error","error":{"type":"api_error","message":"m\n\""}}`,
			`{"error":{"code":502,"message":"m\n\"","status":"UNAVAILABLE"}}`,
			`{"message":"m\n\""}`,
		}, "ServiceUnavailableException"},
		{500, [4]string{
			`{"error":{"message":"m\n\"","type":"server_error","param":"/p","code":"c"}}`,
			`{"type":"error","error":{"type":"api_error","message":"m\n\""}}`,
			`{"error":{"code":500,"message":"m\n\"","status":"INTERNAL"}}`,
			`{"message":"m\n\""}`,
		}, "InternalServerException"},
	} {
		for shape, want := range tt.want {
			w := httptest.NewRecorder()
			Refusal{Status: tt.status, Message: "m\n\"", Code: "c", Param: "/p"}.Write(w, Shape(shape))
			if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != tt.status || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%d: %d (-want +got):\n%s", tt.status, w.Code, diff)
			}
			header := ""
			if Shape(shape) == Amazon {
				header = tt.amazon
			}
			if got := w.Header().Get("X-Amzn-Errortype"); got != header || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d: %q", tt.status, w.Header())
			}
		}
	}
	w := httptest.NewRecorder()
	Refusal{Status: http.StatusBadGateway, Message: "m"}.Write(w, OpenAI)
	if want := `{"error":{"message":"m","type":"server_error","param":null,"code":null}}`; w.Body.String() != want {
		t.Errorf("%s, want %s", w.Body, want)
	}
}
