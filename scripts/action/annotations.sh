#!/usr/bin/env bash
# Prints the annotations in a file, of which GitHub shows ten of each level for a
# step. The file has the errors first. Where there are more than ten of a level,
# the tenth says how many more there are.
set -euo pipefail

LC_ALL=C awk '
	function close_level() {
		if (n == 10) print last
		if (n > 10) printf "::%s title=toolguard::%d more, see the log and the summary of the job\n", level, n - 9
		n = 0
	}
	{
		split(substr($0, 3), words, " ")
		if (words[1] != level) close_level()
		level = words[1]
		last = $0
		if (++n < 10) print
	}
	END { close_level() }
' "$1"
