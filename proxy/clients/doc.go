// Package clients has only tests. They send histories with the SDKs of the model APIs through the
// proxy, to an upstream that refuses what the APIs refuse, and look at what arrives.
package clients
