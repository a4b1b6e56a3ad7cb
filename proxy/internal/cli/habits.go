package cli

// Answers to flags of other programs.
const (
	habitListen   = "the address and the port are one flag: --listen 127.0.0.1:8080"
	habitUpstream = "did you mean --upstream?"
	habitKey      = "the proxy has no keys: clients send their own"
	habitLog      = "the log goes to standard error, as a JSON object per line, and has no levels to choose"
	habitConfig   = "all settings are flags; toolguard proxy --help lists them"
	habitTLS      = "the proxy itself speaks HTTP; put a server with TLS before it"
)

// habits are flags that users know from other proxies and servers, and what to do instead.
var habits = map[string]string{
	"port": habitListen, "p": habitListen, "bind": habitListen, "b": habitListen, "addr": habitListen, "address": habitListen, "l": habitListen,
	"base-url": habitUpstream, "api-base": habitUpstream, "backend": habitUpstream, "proxy-pass": habitUpstream,
	"to": habitUpstream, "url": habitUpstream, "u": habitUpstream,
	"api-key": habitKey, "key": habitKey, "token": habitKey,
	"log-level": habitLog, "log": habitLog, "log-file": habitLog, "log-format": habitLog, "verbose": habitLog, "v": habitLog, "debug": habitLog, "quiet": habitLog, "q": habitLog,
	"config": habitConfig, "c": habitConfig,
	"tls": habitTLS, "cert": habitTLS, "https": habitTLS,
}
