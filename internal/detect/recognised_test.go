package detect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/transcript"
)

// TestRecognised: a format of which there is nothing to pair is told by name.
func TestRecognised(t *testing.T) {
	for file, want := range map[string]string{
		"cursor.jsonl":          "a Cursor transcript, ",
		"step-log.jsonl":        "an Antigravity or Windsurf step log, ",
		"chatgpt-export.json":   "a ChatGPT export, ",
		"claude-ai-export.json": "a claude.ai export, ",
		"sessions.db":           "an SQLite database, ",
		"log.eval":              "a zip archive, ",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "not-transcripts", file))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(transcript.FromBytes(file, text), Options{}, func(*transcript.Conversation) error { return nil })
		if not, ok := errors.AsType[*ErrNotTranscript](err); !ok || !strings.HasPrefix(not.Reason, want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
