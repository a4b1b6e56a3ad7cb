package bench

import "fmt"

// A session is a Claude Code log that is being written. Its records are linked, a message is
// written block by block, and toolUseResult repeats the result of a tool.
type session struct {
	random
	buf                 []byte
	id, cwd, parent     string
	clock, sinceCompact int
	whole               bool // never compacted
}

func newSession(seed uint64) *session {
	s := &session{random: random{seed}}
	s.id, s.cwd = s.uuid(), s.fill("/home/dev/{i}")
	return s
}

func (s *session) flush(c *counter) error {
	_, err := c.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// now returns a time some seconds after the last one. Months have 28 days.
func (s *session) now() string {
	s.clock += 1 + s.below(9000)
	seconds := s.clock / 1000
	days := seconds / 86400
	return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+days/28%12, 1+days%28, seconds/3600%24, seconds/60%60, seconds%60, s.clock%1000)
}

// linked writes a record with the previous record as its parent.
func (s *session) linked(kind string, fields ...field) {
	var parent any
	if s.parent != "" {
		parent = s.parent
	}
	s.parent = s.uuid()
	record := object{
		{"parentUuid", parent},
		{"isSidechain", false},
		{"userType", "external"},
		{"cwd", s.cwd},
		{"sessionId", s.id},
		{"version", "2.1.150"},
		{"gitBranch", "main"},
		{"type", kind},
	}
	record = append(append(record, fields...), field{"uuid", s.parent}, field{"timestamp", s.now()})
	s.record(record)
	s.sinceCompact++
}

func (s *session) record(v object) { s.buf = append(layout{}.write(s.buf, v, 0), '\n') }

// turn writes a user's request and everything that follows from it.
func (s *session) turn() {
	if s.sinceCompact > 600 && !s.whole {
		s.compact()
	}
	s.linked("user", field{"message", object{{"role", "user"}, {"content", s.text(chatter, s.size(spokenSizes))}}})
	s.snapshot()
	for range s.below(12) {
		s.step()
	}
	s.say(s.message(), object{{"type", "text"}, {"text", s.answer(s.size(spokenSizes))}}, "end_turn")
	s.linked("system", field{"subtype", "turn_duration"}, field{"durationMs", s.below(300000)}, field{"isMeta", false})
}

// step writes one message with calls, and their results.
func (s *session) step() {
	id := s.message()
	if s.one(3) {
		s.say(id, object{{"type", "thinking"}, {"thinking", s.text(prose, s.size(thoughtSizes))}, {"signature", s.digits(base64Digits, 300+s.below(1500))}}, nil)
	}
	if s.one(3) {
		s.say(id, object{{"type", "text"}, {"text", s.text(prose, s.size(spokenSizes))}}, nil)
	}
	calls := make([]string, 1+s.below(8)/6)
	for i := range calls {
		t := tools[s.below(len(tools))]
		calls[i] = s.call(id, t.name, t.input(&s.random))
	}
	for _, call := range calls {
		for s.one(4) {
			s.progress(call)
		}
		s.result(call)
	}
}

// shortCall writes a call of a few bytes.
func (s *session) shortCall(answered bool) {
	call := s.call(s.message(), "search", object{{"pattern", s.pick(names)}})
	if answered {
		s.reply(call, s.pick(words), field{"toolUseResult", object{{"numFiles", 1}}})
	}
}

func (s *session) message() string { return "msg_01" + s.digits(alphanumeric, 22) }

func (s *session) call(message, name string, input object) string {
	id := "toolu_01" + s.digits(alphanumeric, 22)
	s.say(message, object{{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", input}}, "tool_use")
	return id
}

// say writes one block of a message.
func (s *session) say(message string, block object, stop any) {
	s.linked("assistant", field{"message", object{
		{"model", "claude-opus-4-6"},
		{"id", message},
		{"type", "message"},
		{"role", "assistant"},
		{"content", list{block}},
		{"stop_reason", stop},
		{"stop_sequence", nil},
		{"usage", object{
			{"input_tokens", s.below(9)},
			{"cache_creation_input_tokens", s.below(20000)},
			{"cache_read_input_tokens", s.below(180000)},
			{"cache_creation", object{{"ephemeral_5m_input_tokens", s.below(20000)}, {"ephemeral_1h_input_tokens", 0}}},
			{"output_tokens", s.below(3000)},
			{"service_tier", "standard"},
		}},
	}}, field{"requestId", "req_011" + s.digits(alphanumeric, 21)})
}

func (s *session) reply(call string, content any, more field) {
	s.linked("user", field{"message", object{
		{"role", "user"},
		{"content", list{object{{"tool_use_id", call}, {"type", "tool_result"}, {"content", content}, {"is_error", s.one(12)}}}},
	}}, more)
}

func (s *session) result(call string) {
	kind := s.below(40)
	if kind == 0 {
		image := s.digits(base64Digits, 20000+s.below(100000))
		s.reply(call, list{object{{"type", "image"}, {"source", object{{"type", "base64"}, {"data", image}, {"media_type", "image/png"}}}}},
			field{"toolUseResult", object{{"type", "image"}, {"originalSize", len(image)}}})
		return
	}
	text := s.output(s.size(resultSizes))
	var content any = text
	if kind < 6 {
		content = list{object{{"type", "text"}, {"text", text}}}
	}
	var again object
	switch {
	case kind < 18:
		again = object{{"stdout", text}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}}
	case kind < 32:
		again = object{{"type", "text"}, {"file", object{
			{"filePath", s.fill("{p}")}, {"content", text}, {"numLines", s.below(2000)}, {"startLine", 1}, {"totalLines", s.below(2000)},
		}}}
	default:
		var lines list
		for range 4 + s.below(24) {
			line := s.fill(s.pick([]string{"+{c}", "-{c}", " {c}", " {c}"}))
			lines = append(lines, line[:len(line)-1])
		}
		again = object{{"filePath", s.fill("{p}")}, {"structuredPatch", list{object{
			{"oldStart", s.below(900)}, {"oldLines", s.below(20)}, {"newStart", s.below(900)}, {"newLines", s.below(20)}, {"lines", lines},
		}}}, {"userModified", false}}
	}
	s.reply(call, content, field{"toolUseResult", again})
}

// progress writes the output of a call so far.
func (s *session) progress(call string) {
	s.linked("progress", field{"data", object{
		{"type", "bash_progress"},
		{"output", s.output(s.size(spokenSizes))},
		{"elapsedTimeSeconds", s.below(100)},
		{"totalLines", s.below(1000)},
	}}, field{"toolUseID", s.fill("bash-progress-{n}")}, field{"parentToolUseID", call})
}

// snapshot lists the files of which the agent keeps a copy.
func (s *session) snapshot() {
	files := object{}
	for range s.below(20) {
		files = append(files, field{s.fill("{p}.{n}"), object{{"backupFileName", s.digits(hexadecimal, 16) + "@v1"}, {"version", 1 + s.below(9)}, {"backupTime", s.now()}}})
	}
	id := s.uuid()
	s.record(object{
		{"type", "file-history-snapshot"},
		{"messageId", id},
		{"snapshot", object{{"messageId", id}, {"trackedFileBackups", files}, {"timestamp", s.now()}}},
		{"isSnapshotUpdate", false},
	})
}

// compact starts a new history with a summary.
func (s *session) compact() {
	last := s.parent
	s.parent = ""
	s.linked("system", field{"subtype", "compact_boundary"}, field{"content", "Conversation compacted"}, field{"logicalParentUuid", last},
		field{"compactMetadata", object{{"trigger", "auto"}, {"preTokens", 155000}}})
	s.linked("user", field{"message", object{{"role", "user"}, {"content", s.text(prose, 6000)}}}, field{"isCompactSummary", true})
	s.sinceCompact = 0
}
