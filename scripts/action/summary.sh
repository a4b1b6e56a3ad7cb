#!/usr/bin/env bash
# Prints the summary of a job: how many annotations of each level there are, the
# first 50 findings, and what toolguard said. Texts of transcripts are shown as
# they are: Markdown means nothing in <pre>, which only < could end. At most 70
# lines of 2,000 bytes, five times as long when escaped, stay below the 1 MiB that
# GitHub takes.
set -euo pipefail
export LC_ALL=C

# escaped prints the first lines of a file as text of HTML. A character that does
# not fit is left out as a whole.
escaped() {
	awk -v most="$2" '
		NR > most { exit }
		{
			gsub(/\033\[[0-9;]*m/, "") # colours
			if (length($0) > 2000) {
				$0 = substr($0, 1, 2000)
				sub(/[\300-\377][\200-\277]*$/, "")
				$0 = $0 "..."
			}
			gsub(/&/, "\\&amp;")
			gsub(/</, "\\&lt;")
			gsub(/>/, "\\&gt;")
			print
		}
	' "$1"
}

# block prints the first lines of a file, and how many there are more.
block() {
	local lines
	lines=$(awk 'END { print NR }' "$1")
	[ "$lines" -gt 0 ] || return 0
	printf '\n<pre><code>'
	escaped "$1" "$2"
	printf '</code></pre>\n'
	[ "$lines" -le "$2" ] || printf '\n%d more, see the log.\n' "$((lines - $2))"
}

count() {
	awk -v level="::$1 " 'index($0, level) == 1 { n++ } END { print n + 0 }' "$annotations"
}

annotations=$1 findings=$2 messages=$3
printf '### toolguard\n\n| errors | warnings | notices |\n|---:|---:|---:|\n'
printf '| %d | %d | %d |\n' "$(count error)" "$(count warning)" "$(count notice)"
block "$findings" 50
block "$messages" 20
