// Package cli is the command line of the proxy: flags, what they mean together, and exit codes.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/usage"
	"github.com/toolguard/toolguard/proxy/internal/body"
	"github.com/toolguard/toolguard/proxy/internal/endpoint"
	"github.com/toolguard/toolguard/proxy/internal/metrics"
	"github.com/toolguard/toolguard/proxy/internal/record"
	"github.com/toolguard/toolguard/proxy/internal/server"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// The exit codes.
const (
	exitOK      = 0
	exitTrouble = 2
)

// drain is how long the proxy waits for streams when it ends.
const drain = 30 * time.Second

// kept lists the rules whose findings are repaired by default although that is an unsafe repair,
// with the strategy: no word is lost, the provider would refuse the request otherwise, and the
// client keeps its own copy.
var kept = []struct{ rule, strategy string }{
	{"orphan-tool-result", "text"},
	{"misplaced-tool-result", "move"}, // across a turn that was written without the result
	{"result-kind-mismatch", "retag"},
}

// Run executes a command line until ctx ends, and returns the exit code. version is that of the
// program.
func Run(ctx context.Context, args []string, version string, stdout, stderr io.Writer) int {
	cmd := New(version, stdout, stderr)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "toolguard proxy:", oneLine(err.Error()))
		return exitTrouble
	}
	return exitOK
}

// oneLine escapes what an argument could bring into an error and a terminal would interpret.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, text)
}

// flags are the values of the flags.
type flags struct {
	listen, metrics, record                 string
	upstreams, hosts, origins               []string
	safeOnly, unsafe, dryRun                bool
	strip, retry                            bool
	strategies, selected, ignored           []string
	target, placeholder                     string
	onError, onUnreadable                   string
	maxBody, maxUnpacked, maxMemory         quantity.Bytes
	timeout, readTimeout                    time.Duration
	allowRemote, allowHTTP, env, versionAsk bool
}

// New returns the command.
func New(version string, stdout, stderr io.Writer) *cobra.Command {
	f := &flags{maxBody: 64 << 20, maxUnpacked: 64 << 20}
	cmd := &cobra.Command{
		Use:   "proxy [flags]",
		Short: "Repair requests on their way to a provider",
		Long: `proxy forwards requests to the APIs of providers and repairs their histories on
the way. It repairs whatever makes a request valid without a word being lost:
results are moved to their calls, missing results become labelled placeholders,
and results without a call become labelled text. A request without faults goes
out as the very bytes that came, and so does whatever toolguard cannot read.

Set the base URL of a client to the address of the proxy; --print-env shows how.
Clients send their own keys, which the proxy neither keeps nor logs.

Exit codes: 0 if the proxy was ended by a signal, 2 if it could not start.`,
		Example: `  toolguard proxy
  toolguard proxy --upstream openai
  toolguard proxy --upstream /a=anthropic --upstream /o=https://gw.example/v1,provider=openai
  eval "$(toolguard proxy --print-env)"`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Annotations:       usage.Short("upstream listen provider unsafe strip-reasoning dry-run record metrics print-env"),
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				if _, err := upstream.Parse(args[0]); err == nil {
					return fmt.Errorf("unexpected argument %q; did you mean --upstream %[1]s?", args[0])
				}
				return fmt.Errorf("unexpected argument %q; toolguard proxy --help shows the usage", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.versionAsk:
				_, err := fmt.Fprintf(stdout, "toolguard-proxy %s\n", version)
				return err
			case f.env:
				all, err := f.parseUpstreams()
				if err != nil {
					return err
				}
				if err := f.local("listen", f.listen); err != nil {
					return err
				}
				if _, port, _ := net.SplitHostPort(f.listen); strings.Trim(port, "0") == "" {
					return fmt.Errorf("--print-env: expected --listen with the port of the proxy, got %q, for which the system chooses a port", f.listen)
				}
				return printEnv(stdout, f.listen, all)
			}
			return f.run(cmd.Context(), version, stderr)
		},
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(flagError)
	cmd.Flags().SetNormalizeFunc(usage.Renamed(map[string]string{"target": "provider"}))
	f.define(cmd.Flags())
	usage.Define(cmd)
	cmd.Annotations[cobra.CommandDisplayNameAnnotation] = "toolguard proxy"
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = usage.Write(stdout, cmd, flagGroups(), helpWidth) })
	return cmd
}

// define defines the flags.
func (f *flags) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8787", "listen at this `address`")
	flags.StringArrayVar(&f.upstreams, "upstream", nil, "forward to `where`: [/prefix=]preset-or-URL[,provider=name]; repeatable (default: anthropic)")
	flags.BoolVar(&f.safeOnly, "safe-only", false, "make only safe repairs")
	flags.BoolVar(&f.unsafe, "unsafe", false, "also make unsafe repairs, which remove content")
	flags.BoolVar(&f.strip, "strip-reasoning", false, "remove all reasoning, signatures and encrypted content from every request, so that another account, model or provider accepts the history")
	flags.BoolVar(&f.retry, "retry-without-reasoning", false, "if the upstream answers 400 because of the reasoning in a request, send it once more without any")
	flags.StringSliceVar(&f.strategies, "strategy", nil, "choose how findings of a rule are repaired: `rule=name`; repeatable, or separated by commas")
	flags.StringSliceVar(&f.selected, "select", nil, "run only these `rules` and categories")
	flags.StringSliceVar(&f.ignored, "ignore", nil, "skip these `rules` and categories")
	flags.StringVar(&f.target, "provider", "", "check requests as this `provider` would; toolguard profiles lists them (default: that of the upstream or the model)")
	flags.StringVar(&f.placeholder, "placeholder", "", "use this `text` for inserted results; {tool} and {id} are replaced")
	flags.BoolVar(&f.dryRun, "dry-run", false, "log the repairs, but forward requests as they came")
	flags.StringVar(&f.onError, "on-error", "pass", "if errors are left, `what` to do: pass or reject")
	flags.StringVar(&f.onUnreadable, "on-unreadable", "pass", "if a body cannot be read, or its repair cannot be proved, `what` to do: pass or reject; WebSockets, signed bodies and bodies with trailer fields always pass")
	flags.Var(&f.maxBody, "max-body", "pass bodies above this `size` unread")
	flags.Var(&f.maxUnpacked, "max-unpacked", "pass packed bodies unread whose text is above this `size`")
	flags.Var(&f.maxMemory, "max-memory", "pass bodies unread while all bodies together need more than this `size` (default: a quarter of what the machine or its cgroup has)")
	flags.DurationVar(&f.readTimeout, "read-timeout", 30*time.Second, "end a request if the body that is read for repair is slower than 1 KiB/s for this `time`")
	flags.DurationVar(&f.timeout, "repair-timeout", 2*time.Second, "pass bodies unread whose check takes longer than this `time`")
	flags.StringVar(&f.record, "record", "", "write the outlines of broken requests, without their contents, to this `directory`, until it has 100")
	flags.StringVar(&f.metrics, "metrics", "", "serve /metrics for Prometheus at this `address`")
	flags.StringArrayVar(&f.hosts, "host", nil, "also accept requests whose Host is this `name`; repeatable")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "also accept requests of the program whose pages have this `origin`, such as app://localhost; only for programs that do not enforce CORS; repeatable")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "listen at addresses that other machines can reach")
	flags.BoolVar(&f.allowHTTP, "allow-http", false, "send requests over HTTP without TLS to other machines")
	flags.BoolVar(&f.env, "print-env", false, "print the settings of clients and exit")
	flags.BoolVar(&f.versionAsk, "version", false, "print the version")
}

// helpWidth is how many columns help takes at most.
const helpWidth = 100

// flagGroups lists the flags under the headings of the help.
func flagGroups() []usage.Group {
	return []usage.Group{
		{Title: "Where requests go", Names: "upstream listen host allow-origin allow-remote allow-http print-env"},
		{Title: "What is judged", Names: "provider select ignore"},
		{Title: "Repair", Names: "safe-only unsafe strip-reasoning retry-without-reasoning strategy placeholder dry-run on-error on-unreadable"},
		{Title: "Limits", Names: "max-body max-unpacked max-memory read-timeout repair-timeout"},
		{Title: "Output", Names: "record metrics"},
		{Title: "Other flags", Names: "version help"},
	}
}

// flagError says in a user's words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var required *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && habits[unknown.GetSpecifiedName()] != "":
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return fmt.Errorf("unknown flag %s%s; %s", dashes, unknown.GetSpecifiedName(), habits[unknown.GetSpecifiedName()])
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%s; toolguard proxy --help lists the flags", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		if near := suggest.Nearest(unknown.GetSpecifiedName(), usage.Visible(cmd)); near != "" {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
		return fmt.Errorf("unknown flag --%s; toolguard proxy --help lists the flags", unknown.GetSpecifiedName())
	case errors.As(err, &required):
		value, _ := pflag.UnquoteUsage(required.GetFlag())
		return fmt.Errorf("--%s needs a value: --%[1]s %s", required.GetSpecifiedName(), value)
	case errors.As(err, &invalid):
		want := "a size, such as 64MiB"
		switch invalid.GetFlag().Value.Type() {
		case "bool":
			want = "true or false"
		case "duration":
			want = "a time, such as 2s or 500ms"
		}
		return fmt.Errorf("--%s: expected %s, got %q", invalid.GetFlag().Name, want, invalid.GetValue())
	}
	return err
}

// parseUpstreams returns the upstreams in the order of the flags.
func (f *flags) parseUpstreams() ([]*upstream.Upstream, error) {
	var all []*upstream.Upstream
	values := f.upstreams
	if len(values) == 0 {
		values = []string{"anthropic"}
	}
	for _, value := range values {
		u, err := upstream.Parse(value)
		if err != nil {
			return nil, fmt.Errorf("--upstream: %w", err)
		}
		if !u.Encrypted() && !f.allowHTTP {
			return nil, fmt.Errorf("--upstream: %s: others can read what is sent over HTTP: use https://, or --allow-http", u.URL.Host)
		}
		if e := endpoint.Find(http.MethodPost, u.URL.EscapedPath()); e != nil {
			return nil, fmt.Errorf("--upstream: %s: expected the base URL of an API, without the path of one of its endpoints (%s)", u.URL.Host, e.Name)
		}
		all = append(all, u)
	}
	if _, err := upstream.NewSet(all); err != nil {
		return nil, fmt.Errorf("--upstream: %w", err)
	}
	return all, nil
}

// local returns an error if other machines can reach an address.
func (f *flags) local(flag, address string) error {
	host, port, err := net.SplitHostPort(address)
	_, notAddr := netip.ParseAddr(host)
	switch {
	case err != nil, host != "" && notAddr != nil && !hostNames.MatchString(strings.ToLower(host)), !ports.MatchString(port):
		example := "127.0.0.1:8787"
		if n, err := strconv.ParseUint(address, 10, 16); err == nil && n > 0 {
			example = "127.0.0.1:" + address
		}
		return fmt.Errorf("--%s: expected an address with a port, such as %s, got %q", flag, example, address)
	case tooHigh(port):
		return fmt.Errorf("--%s: expected a port of at most 65535, got %q", flag, port)
	case !upstream.Loopback(host) && !f.allowRemote:
		return fmt.Errorf("--%s: other machines can reach %q: use 127.0.0.1, or --allow-remote", flag, address)
	}
	return nil
}

// tooHigh reports whether a port is a number that no port can have.
func tooHigh(port string) bool {
	n, err := strconv.ParseUint(port, 10, 64)
	return err == nil && n > math.MaxUint16 || errors.Is(err, strconv.ErrRange)
}

// choice returns whether a flag whose value is pass or reject says reject.
func choice(flag, value string) (reject bool, err error) {
	if value != "pass" && value != "reject" {
		return false, fmt.Errorf("--%s: expected pass or reject, got %q", flag, value)
	}
	return value == "reject", nil
}

// hostNames matches the names that a host can have, and ports the numbers and names of a port.
var (
	hostNames = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)
	ports     = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// config returns what the flags ask for.
func (f *flags) config(log *slog.Logger) (server.Config, error) {
	c := server.Config{
		DryRun: f.dryRun, MaxBody: int64(f.maxBody), MaxUnpacked: int64(f.maxUnpacked), MaxMemory: int64(f.maxMemory),
		Retry: f.retry, Timeout: f.timeout, ReadTimeout: f.readTimeout, Profile: f.target, Metrics: metrics.New(), Log: log,
	}
	all, err := f.parseUpstreams()
	if err != nil {
		return c, err
	}
	if c.Upstreams, err = upstream.NewSet(all); err != nil {
		return c, err
	}
	if err := f.looped(all); err != nil {
		return c, err
	}
	if err := cmp.Or(f.local("listen", f.listen), f.localMetrics()); err != nil {
		return c, err
	}
	for _, host := range f.hosts {
		name := strings.TrimSuffix(strings.ToLower(host), ".")
		if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")); err == nil {
			if addr.IsUnspecified() {
				return c, fmt.Errorf("--host: expected the name by which clients call the proxy, got %q; --listen sets the address", host)
			}
			name = addr.String()
		} else if !hostNames.MatchString(name) {
			return c, fmt.Errorf("--host: expected the name or the address of a host without a port, got %q", host)
		}
		c.Hosts = append(c.Hosts, name)
	}
	for _, value := range f.origins {
		origin, err := server.ParseOrigin(value)
		if err != nil {
			return c, fmt.Errorf("--allow-origin: %w", err)
		}
		c.Origins = append(c.Origins, origin)
	}
	if c.RejectErrors, err = choice("on-error", f.onError); err != nil {
		return c, err
	}
	if c.RejectUnreadable, err = choice("on-unreadable", f.onUnreadable); err != nil {
		return c, err
	}
	for _, size := range []struct {
		flag  string
		value quantity.Bytes
	}{{"max-body", f.maxBody}, {"max-unpacked", f.maxUnpacked}, {"max-memory", f.maxMemory}} {
		if size.value > 1<<40 {
			return c, fmt.Errorf("--%s: expected a size of at most 1 TiB, got %s", size.flag, size.value.String())
		}
	}
	if least := quantity.Bytes(body.LeastMemory); f.maxMemory > 0 && f.maxMemory < least {
		return c, fmt.Errorf("--max-memory: expected at least %s, because each repair needs 1 MiB besides its body, got %s", least.String(), f.maxMemory.String())
	}
	if f.timeout <= 0 {
		return c, fmt.Errorf("--repair-timeout: expected a time above 0, got %s", f.timeout)
	}
	if f.readTimeout <= 0 {
		return c, fmt.Errorf("--read-timeout: expected a time above 0, got %s", f.readTimeout)
	}
	if c.MaxMemory == 0 {
		c.MaxMemory = quarter(memlimit.FromCgroup, memlimit.FromSystem)
	}
	if c.Repairs, err = f.repairs(); err != nil {
		return c, err
	}
	if strings.Contains(f.target, "://") {
		return c, errors.New("--provider: expected the name of a provider, got a URL; did you mean --upstream?")
	}
	if f.target != "" {
		if _, err := toolguard.ProfileFor(f.target, "anthropic"); err != nil {
			return c, fmt.Errorf("--provider: %w", err)
		}
	}
	if f.record != "" {
		if c.Record, err = record.Open(f.record); err != nil {
			return c, fmt.Errorf("--record: %w", err)
		}
	}
	return c, nil
}

// quarter returns a quarter of the least memory that the sources know, and a quarter of 1 GiB if they
// know none.
func quarter(sources ...memlimit.Provider) int64 {
	least := uint64(math.MaxInt64)
	for _, source := range sources {
		if n, err := source(); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		least = 1 << 30
	}
	return int64(least / 4)
}

func (f *flags) localMetrics() error {
	if f.metrics == "" {
		return nil
	}
	return f.local("metrics", f.metrics)
}

// looped returns an error if an upstream is the proxy itself.
func (f *flags) looped(all []*upstream.Upstream) error {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil // local says so
	}
	// An unspecified address is every one of this machine.
	addr, err := netip.ParseAddr(host)
	every := host == "" || err == nil && addr.IsUnspecified()
	here := func(host string) bool {
		addr, err := netip.ParseAddr(host)
		return upstream.Loopback(host) || err == nil && addr.IsUnspecified()
	}
	for _, u := range all {
		to := cmp.Or(u.URL.Port(), map[string]string{"http": "80", "https": "443"}[u.URL.Scheme])
		same := (every || here(host)) && here(u.URL.Hostname()) || host == u.URL.Hostname()
		if same && to == port && port != "0" {
			return fmt.Errorf("--upstream: %s is the address of the proxy itself", u.URL.Host)
		}
	}
	return nil
}

// repairs returns what is repaired.
func (f *flags) repairs() ([]toolguard.Option, error) {
	if f.safeOnly && f.unsafe {
		return nil, errors.New("--safe-only and --unsafe exclude each other: give only one")
	}
	if f.strip && f.retry {
		return nil, errors.New("--strip-reasoning leaves nothing for --retry-without-reasoning: give only one")
	}
	if f.strip && f.safeOnly {
		return nil, errors.New("--strip-reasoning and --safe-only exclude each other: give only one")
	}
	for _, name := range f.ignored {
		if f.strip && (name == "replayed-reasoning" || name == "reasoning") {
			return nil, fmt.Errorf("--strip-reasoning and --ignore %s exclude each other: give only one", name)
		}
	}
	var list []toolguard.Option
	if f.strip {
		list = append(list, toolguard.StripReasoning())
	}
	add := func(flag string, o toolguard.Option) error {
		// An option is only checked when it is used.
		_, err := toolguard.CheckBytes(context.Background(), []byte(`{"messages":[]}`), toolguard.Dialect("anthropic"), toolguard.Request(), o)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		list = append(list, o)
		return nil
	}
	chosen := map[string]string{}
	for _, value := range f.strategies {
		rule, name, ok := strings.Cut(value, "=")
		if !ok {
			return nil, fmt.Errorf("--strategy: expected rule=name, got %q", value)
		}
		if before, set := chosen[rule]; set && before != name {
			return nil, fmt.Errorf("--strategy: %s cannot be both %s and %s", rule, before, name)
		}
		chosen[rule] = name
		if err := add("strategy", toolguard.Strategy(rule, name)); err != nil {
			return nil, err
		}
	}
	switch {
	case f.unsafe:
		list = append(list, toolguard.Allow(toolguard.Unsafe))
	case f.safeOnly:
		list = append(list, toolguard.Allow(toolguard.Safe))
	default:
		list = append(list, toolguard.Allow(toolguard.Additive))
		for _, k := range kept {
			if cmp.Or(chosen[k.rule], k.strategy) == k.strategy {
				list = append(list, toolguard.Strategy(k.rule, k.strategy), toolguard.AllowFor(k.rule))
			}
		}
	}
	for _, names := range []struct {
		flag   string
		values []string
		option func(...string) toolguard.Option
	}{{"select", f.selected, toolguard.Only}, {"ignore", f.ignored, toolguard.Without}} {
		if len(names.values) > 0 {
			if err := add(names.flag, names.option(slices.Clone(names.values)...)); err != nil {
				return nil, err
			}
		}
	}
	if f.placeholder != "" {
		if err := add("placeholder", toolguard.Placeholder(f.placeholder)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// run serves until ctx ends.
func (f *flags) run(ctx context.Context, version string, stderr io.Writer) error {
	// The transport would log what an upstream sends unasked, which can be the end of an answer.
	stdlog.SetOutput(io.Discard)
	log := slog.New(slog.NewJSONHandler(stderr, nil))
	c, err := f.config(log)
	if err != nil {
		return err
	}
	c.Version = version
	s, err := server.New(c, drain)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", bare(err))
	}
	defer listener.Close()
	var routes []string
	for _, u := range c.Upstreams {
		routes = append(routes, u.Prefix+"/ -> "+u.URL.String())
	}
	args := []any{"address", listener.Addr().String(), "upstreams", routes}
	var side net.Listener
	if f.metrics != "" {
		if side, err = lc.Listen(ctx, "tcp", f.metrics); err != nil {
			return fmt.Errorf("--metrics: %w", bare(err))
		}
		defer side.Close()
		args = append(args, "metrics", side.Addr().String())
	}
	args = append(args, "max_memory", c.MaxMemory)
	if f.dryRun {
		args = append(args, "dry_run", true)
	}
	log.Info("listening", args...)
	return s.Serve(ctx, listener, side)
}

// bare returns an error of listening without the names of system calls.
func bare(err error) error {
	var op *net.OpError
	if !errors.As(err, &op) || op.Addr == nil {
		return err
	}
	cause := op.Err
	var call *os.SyscallError
	if errors.As(cause, &call) {
		cause = call.Err
	}
	return fmt.Errorf("%s: %w", op.Addr, cause)
}

// Version returns the version that the linker has set, or else the one that the go command recorded
// in the program.
func Version(linked string) string {
	if linked != "dev" {
		return strings.TrimPrefix(linked, "v")
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return linked
}
