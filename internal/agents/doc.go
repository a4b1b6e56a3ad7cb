// Package agents has only tests. They run real agents against a scripted model, kill them while
// a tool runs, repair their sessions, and resume them. It knows how each agent is installed,
// started and resumed, and what a model API expects in a request. It does not know how
// toolguard reads or repairs a session. Other tests send requests that toolguard has trimmed,
// with the clients of the providers.
package agents
