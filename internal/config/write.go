package config

import "github.com/pelletier/go-toml/v2"

// Starter is a config file to start from: every setting, commented out.
const Starter = `# Settings of toolguard. toolguard config schema describes them all, and
# toolguard config show prints those that hold.

# The least severity that makes the exit code 1.
# fail-on = "error"

# Check as this provider would; without it, as the provider of each dialect.
# target = "anthropic"

# Rules or categories to run, and not to run. toolguard rules lists them.
# select = ["pairing"]
# ignore = ["consecutive-roles"]

# Globs of files and directories to leave out, as seen from here.
# exclude = ["testdata/broken/**"]

# Known findings, which are not reported. toolguard baseline writes the file.
# baseline = ".toolguard-baseline"

# The suffix under which fix --write keeps originals beside their files, or none.
# Without it: .bak for unsafe repairs, the state directory for session logs.
# backup = "none"

# How much a rule matters: off, info, warning or error.
[rules]
# reused-call-id = "warning"

# How what a rule finds is repaired. toolguard explain names the choices.
[strategy]
# orphan-tool-result = "text"

# Findings that are meant to be there: of these files, these rules and these
# calls.
# [[per-file]]
# paths = ["fixtures/legacy/*.jsonl"]
# ignore = ["orphan-tool-result"]
# ids = ["call_abc"]

# A format of your own, in the terms of the built-in ones: docs/dialects.md has
# an example of each kind.
# [[dialect]]
# name = "my-stack"
# driver = "side-list"
# marks = ["speaker", "says"]
# [dialect.side-list]
# role = "speaker"
# user = "user"
# assistant = "assistant"
# tool = "tool"
# content = "says"
# calls = "actions"
# id = "id"
# name = "tool"
# args = "input"
# result-id = "answers"
`

// Format returns a file as TOML, without what is not set.
func (f *File) Format() ([]byte, error) { return toml.Marshal(f) }
