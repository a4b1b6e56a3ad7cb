// Package oracle compares what toolguard-parquet reads and writes with other programs: DuckDB, and parquet-wasm,
// which is the library of Rust. It has only tests.
package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/parquet/internal/cli"
)

// modules returns the directory with the packages of package.json.
func modules(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TOOLGUARD_PARQUET_ORACLE")
	if dir == "" {
		t.Skip("TOOLGUARD_PARQUET_ORACLE names no directory: parquet/test.sh installs the packages")
	}
	return dir
}

// sql runs statements in DuckDB and returns the rows of each.
func sql(t *testing.T, statements ...string) (out [][]map[string]any) {
	t.Helper()
	cmd := exec.Command("node", "duck.mjs", modules(t))
	for i, s := range statements {
		statements[i] = strings.Join(strings.Fields(s), " ")
	}
	cmd.Stdin = strings.NewReader(strings.Join(statements, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(string(raw)) {
		var rows []map[string]any
		if err := json.Unmarshal([]byte(line), &rows); err != nil {
			t.Fatal(err)
		}
		out = append(out, rows)
	}
	return out
}

// rows makes a table with every type that DuckDB writes, in which every tenth conversation is broken.
const rows = `CREATE TABLE t AS SELECT i AS id,
	CASE WHEN i % 10 = 3 THEN [
		{'role': 'user', 'content': 'go on', 'tool_calls': NULL, 'tool_call_id': NULL},
		{'role': 'tool', 'content': 'x', 'tool_calls': NULL, 'tool_call_id': 'lost'}]
	ELSE [
		{'role': 'user', 'content': 'é "' || i || '"' || chr(10), 'tool_calls': NULL, 'tool_call_id': NULL},
		{'role': 'assistant', 'content': NULL, 'tool_calls': [{'id': 'c' || i, 'type': 'function', 'function': {'name': 'ls', 'arguments': '{}'}}], 'tool_call_id': NULL},
		{'role': 'tool', 'content': repeat('a', (i % 50)::INT), 'tool_calls': NULL, 'tool_call_id': 'c' || i},
		{'role': 'assistant', 'content': 'done', 'tool_calls': NULL, 'tool_call_id': NULL}]
	END AS messages,
	(i % 7 = 0) AS ok, (i % 256)::UTINYINT AS u8, (i * 1000000007 % 18446744073709551615)::UBIGINT AS u64, (i - 50)::TINYINT AS i8, -i::HUGEINT AS huge,
	i / 3.0::DOUBLE AS d, (CASE WHEN i % 11 = 0 THEN 'nan' WHEN i % 13 = 0 THEN '-inf' ELSE (i / 7)::VARCHAR END)::FLOAT AS f,
	(i * 37 - 900)::DECIMAL(9, 3) / 10 AS small, (i * 1234567 - 10000000)::DECIMAL(18, 4) AS middle, (-i * 98765)::DECIMAL(38, 10) AS large,
	DATE '1969-12-01' + i::INT AS day, TIME '00:00:00.5' + INTERVAL (i) SECOND AS clock, TIMESTAMP '1969-12-31 23:00:00.000001' + INTERVAL (i) MINUTE AS local,
	(TIMESTAMP '2026-01-01' + INTERVAL (i) HOUR)::TIMESTAMPTZ AS zoned, (TIMESTAMP '2026-01-01' + INTERVAL (i) HOUR)::TIMESTAMP_NS AS nanos,
	md5(i::VARCHAR)::UUID AS uuid, CASE WHEN i % 5 = 0 THEN NULL ELSE encode(md5(i::VARCHAR)) END AS raw, INTERVAL (i) DAY AS span,
	CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN [] WHEN 2 THEN [NULL] ELSE [[1, NULL], [], NULL] END AS deep,
	CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN MAP {} ELSE MAP {'a': i, 'b': NULL} END AS pairs, MAP {i: 'x'} AS numbers,
	CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN {'x': NULL, 'y': {'z': NULL}} ELSE {'x': i, 'y': {'z': [i]}} END AS nested,
	(['red', 'green', NULL])[1 + i % 3] AS colour, ('{"n":' || i || '}')::JSON AS json
	FROM range(0, 170) r(i)`

// filtered filters a file with toolguard-parquet.
func filtered(t *testing.T, path string, flags ...string) (kept, rejected string) {
	t.Helper()
	ending := filepath.Ext(path)
	kept, rejected = path+".kept"+ending, path+".rejected"+ending
	var stdout, stderr bytes.Buffer
	args := append([]string{"filter", "--isolated", "--json", "--provider", "openai", "--overwrite", "--out", kept, "--rejects", rejected}, flags...)
	if code := cli.Run(t.Context(), append(args, path), "1.2.3", &stdout, &stderr); code != 0 {
		t.Fatalf("%s: exit code %d: %s", path, code, stderr.String())
	}
	if !strings.Contains(stdout.String(), `"kept":153,"rejected":17,`) {
		t.Errorf("%s: %s", path, stdout.String())
	}
	return kept, rejected
}

// compare compares the values of the copies with those of the original, as DuckDB reads them, in their order, and
// then what it says of the files.
func compare(t *testing.T, path, kept, rejected string) {
	t.Helper()
	of := func(path, where string) string {
		return fmt.Sprintf("SELECT row_number() OVER () AS row, * FROM (SELECT * FROM read_parquet('%s') WHERE %s)", path, where)
	}
	var statements []string
	for _, c := range []struct{ path, where string }{{kept, "id % 10 <> 3"}, {rejected, "id % 10 = 3"}} {
		a, b := of(path, c.where), of(c.path, "true")
		statements = append(statements, "SELECT count(*) AS n FROM ("+a+" EXCEPT ALL "+b+")", "SELECT count(*) AS n FROM ("+b+" EXCEPT ALL "+a+")")
		for _, about := range []string{
			"SELECT * EXCLUDE (file_name) FROM parquet_schema('%s')",
			"SELECT key::VARCHAR AS key, value::VARCHAR AS value FROM parquet_kv_metadata('%s')",
			"SELECT DISTINCT path_in_schema, type, compression FROM parquet_metadata('%s') ORDER BY ALL",
		} {
			statements = append(statements, fmt.Sprintf(about, path), fmt.Sprintf(about, c.path))
		}
		// The bounds and the numbers of nulls, which let others skip groups.
		statements = append(statements, fmt.Sprintf("SELECT count(*) AS n FROM read_parquet('%s') WHERE id < 0 OR day < DATE '1960-01-01' OR colour = 'blue' OR u64 < 0", c.path),
			fmt.Sprintf("SELECT count(*) - count(raw) - count(*) FILTER (raw IS NULL) AS n FROM read_parquet('%s')", c.path))
	}
	got := sql(t, statements...)
	for i, rows := range got {
		switch i % 10 {
		case 0, 1, 8, 9:
			if n := fmt.Sprint(rows[0]["n"]); n != "0" {
				t.Errorf("%s: %s rows: %s", path, n, statements[i])
			}
		case 2, 4, 6:
			if diff := cmp.Diff(rows, got[i+1]); diff != "" {
				t.Errorf("%s: %s: (-want +got)\n%s", path, statements[i], diff)
			}
		}
	}
}

// TestDuckDB: files of DuckDB, in all codecs and versions, are copied with the same values and types.
func TestDuckDB(t *testing.T) {
	dir := t.TempDir()
	statements := []string{rows}
	var files []string
	for _, codec := range []string{"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"} {
		for _, version := range []string{"V1", "V2"} {
			path := filepath.Join(dir, codec+version+".parquet")
			files = append(files, path)
			statements = append(statements, fmt.Sprintf("COPY t TO '%s' (FORMAT parquet, CODEC '%s', PARQUET_VERSION '%s', ROW_GROUP_SIZE 60, KV_METADATA {z: '1', a: '{\"x\":2}'})", path, codec, version))
		}
	}
	sql(t, statements...)
	for _, path := range files {
		kept, rejected := filtered(t, path)
		compare(t, path, kept, rejected)
	}
	kept, _ := filtered(t, files[0], "--column", "messages")
	compare(t, files[0], kept, files[0]+".rejected.parquet")
}

// TestJSON: the rows as lines of JSON have the verdicts of toolguard for what DuckDB writes as JSON.
func TestJSON(t *testing.T) {
	dir := t.TempDir()
	file, lines := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "rows.jsonl")
	sql(t, rows, "COPY (SELECT id, messages FROM t) TO '"+file+"' (FORMAT parquet)", "COPY (SELECT id, messages FROM t) TO '"+lines+"' (FORMAT json)")
	var stdout, stderr bytes.Buffer
	if code := cli.Run(t.Context(), []string{"filter", "--isolated", "-q", "--select", "invalid-json", file}, "1", &stdout, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	want, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	var a, b []any
	for _, of := range []struct {
		text string
		to   *[]any
	}{{string(want), &a}, {stdout.String(), &b}} {
		for line := range strings.Lines(of.text) {
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			*of.to = append(*of.to, v)
		}
	}
	if diff := cmp.Diff(a, b); diff != "" || len(a) != 170 {
		t.Errorf("%d rows: (-DuckDB +toolguard)\n%s", len(a), diff)
	}
}

// TestWASM: files that parquet-wasm has written, with small pages of both versions, are copied with the same values,
// and it reads the copies as DuckDB does.
func TestWASM(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.parquet")
	// Arrow has no such integers.
	sql(t, rows, "COPY (SELECT * EXCLUDE (huge, span) FROM t) TO '"+plain+"' (FORMAT parquet)")
	again := func(from, to, version, codec string) {
		if out, err := exec.Command("node", "wasm.mjs", modules(t), from, to, version, codec).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, version := range []string{"1", "2"} {
		for _, codec := range []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW"} {
			path := filepath.Join(dir, codec+version+".parquet")
			again(plain, path, version, codec)
			kept, rejected := filtered(t, path)
			compare(t, path, kept, rejected)
			readKept, readRejected := filepath.Join(dir, "kept.parquet"), filepath.Join(dir, "rejected.parquet")
			again(kept, readKept, "1", "SNAPPY")
			again(rejected, readRejected, "1", "SNAPPY")
			a, b := fmt.Sprintf("FROM read_parquet('%s')", kept), fmt.Sprintf("FROM read_parquet('%s')", readKept)
			c, d := fmt.Sprintf("FROM read_parquet('%s')", rejected), fmt.Sprintf("FROM read_parquet('%s')", readRejected)
			for _, rows := range sql(t, "SELECT count(*) AS n FROM ("+a+" EXCEPT ALL "+b+")", "SELECT count(*) AS n FROM ("+c+" EXCEPT ALL "+d+")", "SELECT count(*) - 153 AS n "+b, "SELECT count(*) - 17 AS n "+d) {
				if n := fmt.Sprint(rows[0]["n"]); n != "0" {
					t.Errorf("%s: parquet-wasm reads %s other rows", path, n)
				}
			}
		}
	}
}

// TestArrow: streams that the library of Rust has written, and files that the one of JavaScript has written, are
// copied with the same values, as both read them, and their rows are the same lines of JSON as those of the Parquet
// file from which they were made.
func TestArrow(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.parquet")
	// Arrow has no such integers, and UUIDs are bytes there. The library of JavaScript cannot write 64 bits of time.
	sql(t, rows, "COPY (SELECT * EXCLUDE (huge, span, uuid, clock) FROM t) TO '"+plain+"' (FORMAT parquet, ROW_GROUP_SIZE 60)")
	convert := func(from, to string) string {
		t.Helper()
		if out, err := exec.Command("node", "arrow.mjs", modules(t), from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return to
	}
	text := func(path string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := cli.Run(t.Context(), []string{"filter", "--isolated", "-q", "--select", "invalid-json", path}, "1", &stdout, &stderr); code != 0 {
			t.Fatal(stderr.String())
		}
		return stdout.String()
	}
	want := text(plain)
	for _, ending := range []string{".arrows", ".arrow"} {
		path := convert(plain, filepath.Join(dir, "rows"+ending))
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(text(path), "\n")); diff != "" {
			t.Errorf("%s: (-Parquet +Arrow)\n%s", ending, diff)
		}
		kept, rejected := filtered(t, path)
		a, b := convert(kept, path+".kept.parquet"), convert(rejected, path+".rejected.parquet")
		of := func(path, where string) string {
			return fmt.Sprintf("SELECT row_number() OVER () AS row, * FROM (SELECT * FROM read_parquet('%s') WHERE %s)", path, where)
		}
		for _, c := range []struct{ path, where string }{{a, "id % 10 <> 3"}, {b, "id % 10 = 3"}} {
			x, y := of(convert(path, path+".parquet"), c.where), of(c.path, "true")
			for _, rows := range sql(t, "SELECT count(*) AS n FROM ("+x+" EXCEPT ALL "+y+")", "SELECT count(*) AS n FROM ("+y+" EXCEPT ALL "+x+")") {
				if n := fmt.Sprint(rows[0]["n"]); n != "0" {
					t.Errorf("%s: %s rows differ", c.path, n)
				}
			}
		}
	}
}
