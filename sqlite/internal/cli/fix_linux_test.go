package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// fileLimit is the variable that limits the size of the files which the program writes.
const fileLimit = "TOOLGUARD_TEST_FILE_LIMIT"

// limitFiles lets writes behind that size fail, as on a full disk.
func limitFiles() {
	if n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 63); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			panic(err)
		}
	}
}

// process returns the program as a process.
func process(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{program}, args...)
	cmd.Env = []string{"XDG_STATE_HOME=" + home, "SOURCE_DATE_EPOCH=1780000000", "TMPDIR=" + t.TempDir()}
	return cmd
}

// ran runs a process.
func ran(t *testing.T, cmd *exec.Cmd) (r result) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// many makes a database in which n calls have no result.
func many(t testing.TB, n int, pragma string) string {
	t.Helper()
	path := fixture.Make(t, t.TempDir(), "opencode")
	fixture.Exec(t, path, pragma+`;
		WITH i(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM i WHERE n < `+strconv.Itoa(n)+`)
		INSERT INTO part SELECT printf('prt_2%06d', n), 'msg_2', 'ses_1', 1, 1,
			json_object('type', 'tool', 'callID', 'call_' || n, 'tool', 'read', 'state', json_object('status', 'running', 'input', json_object('x', hex(zeroblob(n % 900))))) FROM i`)
	return path
}

// manyLogs makes a database of OpenClaw in which n calls have no result, among others that have one.
func manyLogs(t testing.TB, n int, pragma string) string {
	t.Helper()
	_, path := madeLog(t)
	fixture.Exec(t, path, pragma+`; BEGIN;
		DELETE FROM session_transcript_active_events; DELETE FROM session_transcript_index_state; DELETE FROM session_transcript_fts_rows;
		DELETE FROM transcript_event_identities; DELETE FROM transcript_events WHERE seq > 0;
		WITH i(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM i WHERE n <= `+strconv.Itoa(n)+`)
		INSERT INTO transcript_events (session_id, seq, created_at, event_json) SELECT 's1', 2 * n - 1, 1, json_object('type', 'message', 'id', 'a' || n, 'parentId', iif(n = 1, NULL, 'u' || (n - 1)),
			'timestamp', '2026-05-28T20:26:41.000Z', 'message', json_object('role', 'assistant', 'content', json_array(json_object('type', 'toolCall', 'id', 'call_' || n, 'name', 'read', 'arguments', json_object('x', hex(zeroblob(n % 900))))))) FROM i
		UNION ALL SELECT 's1', 2 * n, 1, json_object('type', 'message', 'id', 'u' || n, 'parentId', 'a' || n,
			'timestamp', '2026-05-28T20:26:42.000Z', 'message', json_object('role', 'user', 'content', 'go on ' || n)) FROM i; COMMIT`)
	conn := fixture.Open(t, path)
	defer conn.Close()
	if err := conn.Exec("BEGIN;" + derived("s1", logOf(t, conn, "s1")).sql() + "COMMIT"); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKilled kills repairs and undos at any moment. Then the database is intact, and all its rows are
// as before or as after.
func TestKilled(t *testing.T) {
	t.Parallel()
	ended := sample.Until(t)
	victims := []*victim{newVictim(t, "DELETE", many), newVictim(t, "WAL", many), newVictim(t, "WAL", manyLogs)}
	rounds := 0
	for ; rounds < sample.Size(150, 10, 4) && !ended(); rounds++ {
		for _, v := range victims {
			v.kill(t)
		}
	}
	for _, v := range victims {
		t.Logf("%s: of %d runs, %d were killed, %d of them after their change; %d made it", v.mode, rounds, v.killed, v.late, v.switched)
		if v.killed == 0 && rounds >= 10 {
			t.Errorf("%s: no process was killed", v.mode)
		}
		// What the last killed one has left keeps nobody from repairing and restoring all.
		if !v.isNow {
			if got := ran(t, process(t, v.home, "fix", "--write", v.path)); got.code != exitOK {
				t.Errorf("%+v", got)
			}
		}
		if got := ran(t, process(t, v.home, "fix", "--undo", v.path)); got.code != exitOK || !maps.Equal(fixture.Rows(t, v.path), v.old) {
			t.Errorf("%+v", got)
		}
		for name := range fixture.Files(t, filepath.Dir(v.path)) {
			if strings.HasPrefix(name, ".") {
				t.Errorf("%s: %s is left", v.mode, name)
			}
		}
	}
}

// rowsOf returns the rows of a database. Each repair of OpenClaw makes another generation.
func rowsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all := fixture.Rows(t, path)
	const key = "transcript_rewrite_watermarks 1"
	if row, is := all[key]; is && !strings.Contains(row, strings.Repeat("0", 32)) {
		all[key] = "another generation"
	}
	return all
}

// A victim is a database that is repaired and restored in turns by processes that are killed.
type victim struct {
	*rand.Rand
	mode, home, path string
	old, now         map[string]string
	isNow            bool
	long             time.Duration // of a repair
	killed, switched int
	late             int // of those that were killed, how many had made their change
}

func newVictim(t *testing.T, mode string, database func(t testing.TB, n int, pragma string) string) *victim {
	t.Helper()
	v := &victim{Rand: rand.New(rand.NewPCG(sample.Seed(3), 3)), mode: mode, isNow: true} //nolint:gosec // the same moments in each run
	v.path, v.home = database(t, 400, "PRAGMA journal_mode="+mode), filepath.Join(t.TempDir(), "state")
	v.old = rowsOf(t, v.path)
	begun := time.Now()
	if got := ran(t, process(t, v.home, "fix", "--write", v.path)); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	v.long = time.Since(begun)
	if v.now = rowsOf(t, v.path); maps.Equal(v.old, v.now) {
		t.Fatal("nothing is repaired")
	}
	return v
}

// kill kills one repair or undo.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	args := []string{"fix", "--write", v.path}
	if v.isNow {
		args[1] = "--undo"
	}
	cmd := process(t, v.home, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration((0.6 + 0.6*v.Float64()) * float64(v.long)))
	_ = cmd.Process.Kill() // it may have ended by now
	_ = cmd.Wait()
	exited := cmd.ProcessState.Exited()
	if !exited {
		v.killed++
	}
	if v.IntN(2) == 0 { // the next one finds what the killed one has left
		fixture.Intact(t, v.path)
	} else if got := ran(t, process(t, v.home, "check", v.path)); got.code > exitFindings {
		t.Errorf("after %q: %+v", args, got)
	}
	rows := rowsOf(t, v.path)
	isOld, isNow := maps.Equal(rows, v.old), maps.Equal(rows, v.now)
	if !isOld && !isNow {
		t.Fatalf("after %q, rows are neither as before nor as after:\n%s", args, cmp.Diff(v.old, rows))
	}
	// The machine is faster or slower than before: half of the processes should make their change.
	if isNow == v.isNow {
		v.long += v.long / 12
	} else {
		v.switched++
		v.long -= v.long / 12
		if !exited {
			v.late++
		}
	}
	v.isNow = isNow
	fixture.Intact(t, v.path)
}

// TestFullDisk: if a write fails, nothing changes, whether it was of the copy, of the log or of the
// database. If only the log could be written, the repair is made.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"DELETE", "WAL"} {
		path := many(t, 400, "PRAGMA page_size=1024; VACUUM; CREATE TABLE filler AS SELECT zeroblob(4000000); PRAGMA journal_mode="+mode)
		old := fixture.Rows(t, path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		failed := map[string]int{}
		for _, limit := range []int64{200_000, 900_000, info.Size() - 512, info.Size(), info.Size() + 40_000} {
			home := filepath.Join(t.TempDir(), "state")
			cmd := process(t, home, "fix", "--write", path)
			cmd.Env = append(cmd.Env, fileLimit+"="+strconv.FormatInt(limit, 10))
			got := ran(t, cmd)
			fixture.Intact(t, path)
			if got.code == exitOK {
				failed["made"]++
				if undo := ran(t, process(t, home, "fix", "--undo", path)); undo.code != exitOK {
					t.Errorf("%+v", undo)
				}
			} else if got.code != exitTrouble || !strings.HasSuffix(got.stderr, "401 problems left. 2 sessions checked, 1 not repaired.\n"+instead) {
				t.Errorf("%s, limit %d of %d: %+v", mode, limit, info.Size(), got)
			}
			if diff := cmp.Diff(old, fixture.Rows(t, path)); diff != "" {
				t.Errorf("%s, limit %d: rows changed:\n%s", mode, limit, diff)
			}
			switch {
			case got.code == exitOK:
			case strings.HasPrefix(got.stderr, program+": "+path+": not copied to the state directory: "):
				failed["copy"]++
			case strings.Contains(got.stderr, "; the database as it was is saved as "+home):
				failed["commit"]++
			default:
				t.Errorf("%s, limit %d: %s", mode, limit, got.stderr)
			}
		}
		if t.Logf("%s: %v", mode, failed); failed["copy"] == 0 || failed["commit"]+failed["made"] == 0 {
			t.Errorf("%s: not all kinds of writes failed: %v", mode, failed)
		}
	}
}

// TestNoRoom: the space is looked at before anything is written.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := unix.Mount("tmpfs", home, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("only root can mount a small file system here: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(home, 0); err != nil {
			t.Error(err)
		}
	})
	_, path := made(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	got := runAt(t, home, "fix", "--write", path)
	want := fmt.Sprintf("%s: %s: %s: has room for 1048576 bytes, and the copy needs %d\n%s", program, path, filepath.Join(home, "toolguard", "databases"), info.Size()+margin, notRepaired)
	if got.code != exitTrouble || got.stderr != want {
		t.Errorf("%+v\nwant %s", got, want)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestReadOnly: a file and a directory that cannot be written stay as they are.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	home, path := made(t)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	talk(t, home, path, says{args: []string{"fix", "--write"}, code: exitTrouble, stdout: finding, stderr: program + ": DB: is read-only\n" + notRepaired})
	for mode, why := range map[string]string{"DELETE": "row part prt_3: attempt to write a readonly database", "WAL": "cannot be written: attempt to write a readonly database"} {
		home, path := made(t)
		fixture.Exec(t, path, "PRAGMA journal_mode="+mode)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(path)
		if err := errors.Join(os.Chmod(path, 0o666), os.Chmod(dir, 0o555), os.MkdirAll(home, 0o755), os.Chmod(home, 0o777)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o755) }) //nolint:errcheck // it is removed
		cmd := process(t, home, "fix", "--write", path)
		if os.Getuid() == 0 {
			asNobody(t, cmd, dir)
		}
		got := ran(t, cmd)
		got.stderr = strings.ReplaceAll(got.stderr, path, "DB")
		if want := ": DB: " + why + "\n" + notRepaired; got.code != exitTrouble || !strings.HasSuffix(got.stderr, want) {
			t.Errorf("%s: %+v\nwant %s", mode, got, want)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
			t.Errorf("%s: the database has changed: %v", mode, err)
		}
	}
}

// asNobody runs a process of root as another user, who may reach all directories above dir.
func asNobody(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	for d := filepath.Dir(dir); d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(t.TempDir(), program)
	self, err := os.ReadFile(cmd.Path)
	if err == nil {
		err = os.WriteFile(copied, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for d := filepath.Dir(copied); d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Path = copied
	cmd.Env = append(cmd.Env, "TMPDIR="+os.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

// TestFixLog: what is only in the write-ahead log of a killed program is repaired too, and stays there if
// nothing may be written.
func TestFixLog(t *testing.T) {
	t.Parallel()
	home, from := made(t)
	fixture.Exec(t, from, "PRAGMA journal_mode=WAL")
	conn := fixture.Open(t, from)
	if err := conn.Exec(`PRAGMA wal_autocheckpoint=0; UPDATE part SET data = replace(data, 'toolu_2', 'in_the_log') WHERE id = 'prt_3'`); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	put := func() {
		for _, suffix := range []string{"", "-wal"} {
			text, err := os.ReadFile(from + suffix)
			if err == nil {
				err = os.WriteFile(path+suffix, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	put()
	want := fixture.Rows(t, path)
	if !strings.Contains(want["part 3"], "in_the_log") {
		t.Fatal(want["part 3"])
	}
	put()
	defer conn.Close()
	talk(t, home, path, says{args: []string{"fix", "--write"}, stderr: repaired})
	if files := fixture.Files(t, dir); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
	kept := filepath.Join(home, "toolguard", "databases", firstRun, "0001-a.db")
	if diff := cmp.Diff(want, fixture.Rows(t, kept)); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
	talk(t, home, path, says{args: []string{"fix", "--undo"}, stderr: "DB: restored 1 row of the repair " + firstRun + "\n"})
	if diff := cmp.Diff(want, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows after the undo (-want +got):\n%s", diff)
	}
	if err := conn.Exec("CREATE TRIGGER t DELETE ON part BEGIN SELECT 1; END"); err != nil {
		t.Fatal(err)
	}
	put()
	files := fixture.Files(t, dir)
	talk(t, home, path, says{args: []string{"fix", "--write"}, code: exitTrouble, stdout: "*", stderr: program + ": DB: its table part has the trigger t, whose effect is not known\n" + notRepaired})
	if diff := cmp.Diff(files, fixture.Files(t, dir)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
}

// TestUndoWhole: if a database is exactly what its repair left, undo gives back all of its bytes, and its time. If
// that cannot be, it restores the rows.
func TestUndoWhole(t *testing.T) {
	t.Parallel()
	const (
		whole = "DB: restored the database as it was before the repair " + firstRun + "\n"
		byRow = "DB: restored 1 row of the repair " + firstRun + "\n"
	)
	edit := func(name, from, to string) func(t *testing.T, home, path string) {
		return func(t *testing.T, home, _ string) {
			t.Helper()
			name := filepath.Join(home, "toolguard", "databases", firstRun, name)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if from == "" {
				text = text[:bytes.IndexByte(text, '\n')+1] // as if it was killed before the next line
			}
			if err := os.WriteFile(name, bytes.Replace(text, []byte(from), []byte(to), 1), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		first, later string // SQL before and after the repair
		also         func(t *testing.T, home, path string)
		want         string
	}{
		"delete":                {`PRAGMA journal_mode=DELETE`, ``, nil, whole},
		"persist":               {`PRAGMA journal_mode=PERSIST; UPDATE session SET title = title`, ``, nil, whole},
		"wal":                   {`PRAGMA journal_mode=WAL`, ``, nil, whole},
		"vacuum":                {`PRAGMA auto_vacuum=FULL; VACUUM`, ``, nil, whole},
		"read since":            {`PRAGMA journal_mode=WAL`, `SELECT count(*) FROM part`, nil, whole},
		"another row":           {``, `UPDATE session SET title = 'x' WHERE id = 'ses_2'`, nil, byRow},
		"another row, wal":      {`PRAGMA journal_mode=WAL`, `UPDATE session SET title = 'x' WHERE id = 'ses_2'`, nil, byRow},
		"vacuum since":          {``, `VACUUM`, nil, byRow},
		"another mode":          {``, `PRAGMA journal_mode=WAL`, nil, byRow},
		"the copy is damaged":   {``, ``, edit("0001-a.db", "Read both", "Read Both"), byRow},
		"killed before the end": {``, ``, edit("manifest.jsonl", "", ""), byRow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, path := made(t)
			fixture.Exec(t, path, c.first)
			rows := fixture.Rows(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2026, 5, 28, 20, 0, 0, 123456789, time.UTC)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
			talk(t, home, path, says{args: []string{"fix", "--write"}, stderr: repaired})
			if c.later != "" {
				fixture.Exec(t, path, c.later)
			}
			if c.also != nil {
				c.also(t, home, path)
			}
			talk(t, home, path, says{args: []string{"fix", "--undo"}, stderr: c.want})
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if isWhole := c.want == whole; bytes.Equal(before, after) != isWhole || info.ModTime().Equal(at) != isWhole {
				t.Errorf("the same bytes: %t, modified %s", bytes.Equal(before, after), info.ModTime())
			}
			fixture.Intact(t, path)
			now := fixture.Rows(t, path)
			if strings.HasPrefix(c.later, "UPDATE") {
				now["session 2"] = rows["session 2"]
			}
			if diff := cmp.Diff(rows, now); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			talk(t, home, path, says{args: []string{"fix", "--undo"}, code: exitTrouble, stderr: program + ": DB: no repair of it is left to undo\n"})
		})
	}
}

// TestSecondWriter: if another program has the database open, or writes to it all the time, it is not
// repaired, and nothing of what the other writes is lost.
func TestSecondWriter(t *testing.T) {
	t.Parallel()
	ended := sample.Until(t)
	for _, mode := range []string{"DELETE", "WAL"} {
		home, path := made(t)
		fixture.Exec(t, path, "PRAGMA journal_mode="+mode+"; CREATE TABLE other (n)")
		stop, done := make(chan struct{}), make(chan int)
		go func() { // another program that opens the database again and again
			n := 0
			for {
				select {
				case <-stop:
					done <- n
					return
				default:
				}
				conn := fixture.Open(t, path)
				if conn.BusyTimeout(10*time.Second) == nil && conn.Exec("INSERT INTO other VALUES (1)") == nil {
					n++
				}
				conn.Close()
				time.Sleep(time.Duration(n%20) * time.Millisecond)
			}
		}()
		refused, made := 0, 0
		for range sample.Size(40, 4, 2) {
			if ended() {
				break
			}
			for _, args := range [][]string{{"fix", "--write"}, {"fix", "--undo"}} {
				got := runAt(t, home, append(args, path)...)
				switch {
				case got.code == exitOK:
					made++
				case got.code == exitTrouble && regexp.MustCompile(`has the database open: close it first|another program uses the database|another program writes to the database|no repair of it is left`).MatchString(got.stderr):
					refused++
				default:
					t.Errorf("%s: %+v", mode, got)
				}
			}
		}
		close(stop)
		n := <-done
		fixture.Intact(t, path)
		rows := 0
		for key := range fixture.Rows(t, path) {
			if strings.HasPrefix(key, "other ") {
				rows++
			}
		}
		if t.Logf("%s: %d refused, %d made, %d rows written beside", mode, refused, made, n); n == 0 || rows != n {
			t.Errorf("%s: the other program wrote %d rows, and %d are there", mode, n, rows)
		}
	}
}

// TestFixDamaged: a database with damaged bytes is not repaired, or only the rows that the repair is about
// change.
func TestFixDamaged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(sample.Seed(5), 5)) //nolint:gosec // the same bytes in each run
	_, whole := made(t)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	why, ended := map[string]int{}, sample.Until(t)
	for i := range sample.Size(400, 60, 40) {
		if ended() {
			break
		}
		dir := t.TempDir()
		home, path := filepath.Join(dir, "state"), filepath.Join(dir, "a.db")
		bad := bytes.Clone(text)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(bad))
			if i%2 == 0 { // the structures at the beginning of a page
				at = at/4096*4096 + rng.IntN(60)
			}
			bad[at] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got := runAt(t, home, "fix", "--write", path)
		if strings.Contains(got.stderr, "internal error") || strings.Contains(got.stderr, "sqlite3:") {
			t.Errorf("%+v", got)
		}
		if strings.Contains(got.stderr, ": changed ") {
			why["changed"]++
			fixture.Intact(t, path)
			if undo := runAt(t, home, "fix", "--undo", path); undo.code != exitOK {
				t.Errorf("%+v", undo)
			}
			if diff := cmp.Diff(fixture.Rows(t, filepath.Join(home, "toolguard", "databases", firstRun, "0001-a.db")), fixture.Rows(t, path)); diff != "" {
				t.Errorf("rows after the undo:\n%s", diff)
			}
			continue
		}
		if strings.Contains(got.stderr, "the database is damaged") {
			why["damaged"]++
		} else {
			why["else"]++
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("the database has changed: %v, %+v", err, got)
		}
	}
	if t.Log(why); why["changed"] == 0 || why["damaged"] == 0 {
		t.Error("too few kinds of damages")
	}
}

// TestLargeFix repairs a database of 1 GB in less memory than that, if TOOLGUARD_SQLITE_LARGE is set.
func TestLargeFix(t *testing.T) {
	if os.Getenv("TOOLGUARD_SQLITE_LARGE") == "" {
		t.Skip("TOOLGUARD_SQLITE_LARGE is not set")
	}
	home, path := made(t)
	fixture.Exec(t, path, `CREATE TABLE i AS WITH i(n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM i WHERE n < 10009) SELECT n FROM i;
		INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) SELECT 'ses_' || n, 'p', 's', '/d', 't', '1', 1, 1 FROM i WHERE n < 60;
		INSERT INTO message SELECT 'msg_' || n, 'ses_' || n, 1, 1, '{"role":"assistant"}' FROM i WHERE n < 60;
		INSERT INTO part SELECT 'prt_' || n, 'msg_' || (10 + n % 50), 'ses_' || (10 + n % 50), 1, 1, '{"type":"text","text":"' || hex(randomblob(52000)) || '"}' FROM i`)
	info, err := os.Stat(path)
	if err != nil || info.Size() < 1e9 {
		t.Fatal(info.Size(), err)
	}
	cmd := process(t, home, "fix", "--write", path)
	began := time.Now()
	got := ran(t, cmd)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%s, %d KB of memory", time.Since(began).Round(time.Second), usage.Maxrss)
	if got.code != exitOK || !strings.HasSuffix(got.stderr, "Repaired 1 problem in 1 session (1 inserted). No problems left. 52 sessions checked.\n") {
		t.Errorf("%+v", got)
	}
	if undo := ran(t, process(t, home, "fix", "--undo", path)); undo.code != exitOK {
		t.Errorf("%+v", undo)
	}
	if usage.Maxrss > 600_000 {
		t.Errorf("%d KB of memory for a database of 1 GB", usage.Maxrss)
	}
}
