// Package agents has only tests. They run real agents against a scripted model, kill them while
// a tool runs, repair their sessions, and resume them. It knows how each agent is installed,
// started and resumed, and how a model API writes calls and results. It does not know how
// toolguard reads or repairs a session; package provider knows what a model API refuses. Other
// tests send requests that toolguard has trimmed, with the clients of the providers.
package agents
