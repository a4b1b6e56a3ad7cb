package yamldoc

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// HeadBytes is how much of a file shows whether it begins like a recording.
const HeadBytes = 4 << 10

// Named reports whether the name of a file says that it is YAML, also if it is compressed.
func Named(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// recording matches the first lines of a recording: of VCR and its likes, of conversations, and of
// events with an author and parts.
var recording = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\A(?:\x{feff}|---[^\n]*\n|#[^\n]*\n|version:[^\n]*\n|models:\r?\n(?:[ \t]*-[^\n]*\n)+|\s+)*(?:` +
		`(?:http_)?interactions:|conversations:|recorded_with:|messages:\s*\n|- (?:author|role): |- (?:request|response):)`)
})

// BeginsLikeRecording reports whether a text begins like a recording in YAML.
func BeginsLikeRecording(head []byte) bool {
	return !bytes.HasPrefix(head, []byte("{")) && recording().Match(head)
}
