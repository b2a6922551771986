// Package gateway is the HTTP server (CONTRACT §9): it finds out who is
// calling, checks what was sent, hands it to the Engine and says truthfully
// what became of it. It decides nothing and knows nothing of Temporal.
//
// New returns the handler; ports.go holds what it asks of the rest. The routes
// are described by openapi.yaml, which a test compares with the router.
package gateway
