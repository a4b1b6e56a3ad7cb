package bench

import (
	"strconv"
	"strings"
)

// A flavour is a kind of text that tools return and models write. Its lines are
// picked at random, and these marks in them are replaced:
//
//	{i} an identifier         {w} a word   {f} a word that is not ASCII
//	{p} a path                {n} a number {t} up to three tabs
//	{s} the same as blanks    {l} the number of the line, as a reader shows it
//	{c} a line of source code
type flavour struct {
	weight int
	lines  []string
}

// The parts of texts. These lists never change.
var (
	names = strings.Fields("account balance branch buffer builder channel client cursor decoder entry filter handler " +
		"index invoice journal ledger limit locale message offset order parser payload queue record region schema " +
		"session status ticket token userName vessel window writer")
	words = strings.Fields("the a of to and in it is that for on with as was be this are by not from but have an which " +
		"when there can more if no about all up then into only some could these may file test error change line value " +
		"result function returns build fails passes because before after first again need should we I'll don't it's")
	foreign = strings.Fields("Größe naïve façade señal пример ошибка проверка 修正 错误 測試 関数 テスト 확인 – → … ✓ ✅ 🚀 „so“")
	folders = strings.Fields("api cmd core docs internal lib pages server src test web")
	endings = strings.Fields(".go .ts .tsx .py .rs .md .json .yaml .css .sql")

	code = []string{
		"{t}if {i} == nil {\n", "{t}return nil, fmt.Errorf(\"{w} {i} %q: %w\", {i}, err)\n", "{t}}\n", "{t}}\n", "\n",
		"{t}{i}, err := {i}.{i}(ctx, {n})\n", "{t}// {w} {w} {w} {w} {w} {w}\n", "{t}const {i} = await {i}.{i}({ {i}: '{w}' });\n",
		"{t}<li className=\"{i}\">{{i}.{i}}</li>\n", "{t}self.{i}[\"{i}\"] = re.sub(r'\\s+\\d', \"\", {i})\n",
		"{t}want(t, {i}.{i}, \"{w} {w}\\n\")\n", "{t}{i} = append({i}, {i}[{n}:]...)\n",
	}
	prose = []string{
		"{w} {w} {w} {w} {w} {w} {w} {w} {w}. ", "{w} {w} `{i}` {w} {w} {w} {w}, {w} {w} {w} {w}. ", "{w} {w} {w} {w}:\n\n- {w} {w} {w}\n- {w} `{p}`\n\n",
		"{w} {w} \"{w} {w}\" {w} {w} {w} {w} {w} {w}.\n\n", "{w} {w} {w} {w} {w} {w} {w} {w} {w} {w} {w} {w}. ",
	}
	chatter = append([]string{"{f} {w} {f} {f} {w} {f}. ", "{w} {w} {w} {f} {w} {w}. ", "{f}{f}{f} {w} {w}\n"}, prose...)

	outputs = []flavour{
		{24, []string{"{c}"}},
		{16, []string{"{l}→{c}"}},
		{8, []string{
			"  \"{i}\": \"{w} {w}\",\n", "  \"{i}\": {n},\n", "  \"{i}\": {\"path\": \"{p}\", \"type\": \"tool_use\"},\n",
			"  \"{i}\": [\n    \"{i}\",\n    \"{i}\"\n  ],\n",
		}},
		{10, []string{
			"-rw-r--r-- 1 dev dev {n} Mar  4 11:20 {p}\n", "ok  \texample.org/{i}/{i}\t0.{n}s\n", "\x1b[32m✓\x1b[0m {w} {w} {w} (0.{n} ms)\n",
			"    at {i}.{i} ({p}:{n}:17)\n", "{p}:{n}:9: undefined: {i}\n", "=== RUN   Test/{i}_{i}\n",
		}},
		{12, []string{"{p}:{n}:{c}"}},
		{8, []string{"+{c}", "-{c}", " {c}", " {c}", " {c}", "@@ -{n},7 +{n},9 @@ func {i}() {\n"}},
		{14, prose},
		{5, chatter},
		{2, []string{"C:\\Users\\dev\\{i}\\{i}\\{w}.txt\r\n", "\\\\server\\{i}\\{w}\\{i}.dll\r\n"}},
	}
)

// output returns about size bytes of the output of a tool.
func (r *random) output(size int) string {
	all := 0
	for _, f := range outputs {
		all += f.weight
	}
	at := r.below(all)
	for _, f := range outputs {
		if at -= f.weight; at < 0 {
			return r.text(f.lines, size)
		}
	}
	return ""
}

// text returns about size bytes of such lines.
func (r *random) text(lines []string, size int) string {
	b := make([]byte, 0, size+128)
	for line := 1 + r.below(400); len(b) < size; line++ {
		b = r.expand(b, r.pick(lines), line)
	}
	return string(b)
}

// answer returns the final answer of a model, without white space at the end.
func (r *random) answer(size int) string { return strings.TrimSpace(r.text(prose, size)) }

func (r *random) expand(b []byte, line string, number int) []byte {
	for i := 0; i < len(line); i++ {
		if line[i] != '{' || i+2 >= len(line) || line[i+2] != '}' {
			b = append(b, line[i])
			continue
		}
		switch line[i+1] {
		case 'i':
			b = append(b, r.pick(names)...)
		case 'w':
			b = append(b, r.pick(words)...)
		case 'f':
			b = append(b, r.pick(foreign)...)
		case 'p':
			b = r.path(b)
		case 'n':
			b = strconv.AppendInt(b, int64(r.below(9000)), 10)
		case 't':
			b = append(b, "\t\t\t"[:r.below(4)]...)
		case 's':
			b = append(b, "            "[:4*r.below(4)]...)
		case 'l':
			digits := strconv.Itoa(number)
			b = append(append(b, "      "[:max(0, 6-len(digits))]...), digits...)
		case 'c':
			b = r.expand(b, r.pick(code), number)
		}
		i += 2
	}
	return b
}

func (r *random) path(b []byte) []byte {
	b = append(append(b, "/home/dev/"...), r.pick(names)...)
	b = append(append(b, '/'), r.pick(folders)...)
	b = append(append(b, '/'), r.pick(names)...)
	return append(append(b, '_'), r.pick(names)+r.pick(endings)...)
}

func (r *random) fill(line string) string { return string(r.expand(nil, line, 0)) }
