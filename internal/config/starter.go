package config

// Starter is a config file with every setting commented out.
const Starter = `# Settings of toolguard. "toolguard config schema" describes all of them, and
# "toolguard config show" prints the current ones.

# Exit with 1 for findings of this severity or higher.
# fail-on = "error"

# Check as this provider would. The default is the provider that a request names,
# or that of the format.
# provider = "anthropic"

# Rules or categories to run, and not to run. "toolguard rules" lists them.
# select = ["pairing"]
# ignore = ["consecutive-roles"]

# Globs of files and directories to skip, relative to the directory of this file.
# exclude = ["testdata/broken/**"]

# Known findings, which are not reported. "toolguard baseline" writes the file. This
# is the default.
# baseline = ".toolguard-baseline"

# The suffix of the originals that fix --write keeps, or none to keep no originals.
# The default is .bak for unsafe repairs, and the state directory for session logs.
# backup = "none"

# Severities of rules: off, info, warning or error.
[rules]
# reused-call-id = "warning"

# How findings of rules are repaired. "toolguard explain RULE" lists the choices.
[strategy]
# orphan-tool-result = "text"

# Findings that are not reported, by file, rule and id of the call.
# [[per-file]]
# paths = ["fixtures/legacy/*.jsonl"]
# ignore = ["orphan-tool-result"]
# ids = ["call_abc"]

# A format of your own. docs/dialects.md shows how to describe one, and
# docs/format-keys.md has all keys.
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
