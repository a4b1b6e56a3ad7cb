// Package page writes a session as one HTML file that opens from disk and loads nothing, and an index
// of several. It knows how a session is laid out in such a file and what the scripts in it read. It
// knows neither flags nor files.
//
// A page begins with the problems, as plain HTML. The rows of the map and the bytes of the source are
// in blocks, compressed and in base64, which the script unpacks when it needs them. The first rows are
// before the script, so they are shown while the browser still reads the rest.
package page

import (
	"bufio"
	_ "embed" // for the scripts and styles
	"encoding/base64"
	"io"
	"strconv"

	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

var (
	//go:embed page.css
	styles string
	//go:embed data.js
	dataScript string
	//go:embed map.js
	mapScript string
	//go:embed page.js
	pageScript string
	//go:embed index.js
	indexScript string
)

// Options say what is known about a session besides its source.
type Options struct {
	// Name is what the page calls the file.
	Name string
	// Version is the version of toolguard.
	Version string
	// Agent is what wrote the session, with its version: "claude-code 2.1.33"; "" for its dialect.
	Agent string
	// Command returns the command that repairs a finding, "" if there is none. nil is for none at all.
	Command func(f *engine.Finding) string
	// After is the repaired session, nil if there is none.
	After *Variant
	// Redacted says that texts are filler.
	Redacted bool
	// NoPayload leaves out the source and all texts of it, except ids, names, types and roles.
	NoPayload bool
	// Index is the address of the page of all sessions, "" for none.
	Index string
}

// A Variant is a session that was made from another one by edits. Both must be read with
// Options.Times, Options.Texts and Options.Elements.
type Variant struct {
	Session *session.Session
	// Edits are those of the source of the other one, in order.
	Edits []edit.Edit
}

// mostPayload is how many bytes of a source are on its page. Strings of longer sources are shortened.
const mostPayload = 200_000_000

// A writer writes a page. After an error it writes nothing.
type writer struct {
	w    *bufio.Writer
	opts Options
	pack packer
	err  error
}

// put writes markup.
func (p *writer) put(parts ...string) {
	for _, s := range parts {
		if p.err == nil {
			_, p.err = p.w.WriteString(s)
		}
	}
}

// Write writes the page of a session, which must be read with Options.Times, Options.Texts and
// Options.Elements.
func Write(w io.Writer, src *source.Source, s *session.Session, opts Options) error {
	return write(w, src, s, opts, mostPayload)
}

// write is Write with a limit for payloads.
func write(w io.Writer, src *source.Source, s *session.Session, opts Options, most int64) error {
	p := &writer{w: bufio.NewWriterSize(w, 1<<16), opts: opts}
	before := layOut(s)
	var after *layout
	var made *pieces
	if opts.After != nil {
		after, made = layOut(opts.After.Session), cut(opts.After.Edits, src.Size())
	}
	raw := newRaw(src, most)
	if opts.NoPayload {
		raw.left = true
	} else if p.err = raw.measure(); p.err != nil {
		return p.err
	}

	p.begin("session", opts.Name, pageScripts())
	p.header(s, raw.longest)
	p.problems(before)
	p.put(mapMarkup)
	p.head(before, after, made, raw)
	p.rows("r", before, src, nil, 0, 1)
	p.payload(raw, 0, 1)
	p.put("<script>", pageScripts(), "</script>\n")
	p.rows("r", before, src, nil, 1, before.blocks())
	p.payload(raw, 1, raw.blocks())
	if after != nil {
		p.rows("s", after, src, made, 0, after.blocks())
		p.inserted(made)
	}
	p.tail(before, after)
	p.put("</body></html>\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// pageScripts returns the script of a page.
func pageScripts() string { return dataScript + mapScript + pageScript }

// begin writes what is before the body. Only the script that is given runs on the page, and nothing
// is loaded.
func (p *writer) begin(class, title, script string) {
	p.put("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; script-src `,
		hash(script), "; style-src ", hash(styles), "\">\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">`, "\n",
		"<title>", escape(title), " – toolguard</title>\n<style>", styles, "</style></head>\n<body class=\"", class, "\">\n")
}

// hash returns how a policy names a script or a style.
func hash(text string) string {
	sum := digest.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// mapMarkup is where the script shows the map.
const mapMarkup = `<main id="map">
<noscript><p class="note">The turns need JavaScript. The problems above do not.</p></noscript>
<div id="view"></div>
<section id="panel" aria-label="The selected element" tabindex="-1" hidden></section>
</main>
<div id="say" role="status" class="unseen"></div>
`

// number writes a number as people read it.
func number[N int | int32 | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
