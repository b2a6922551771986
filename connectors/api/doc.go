// Package api is the outgoing side of POST /api/message (CONTRACT §8). The
// answer of a turn goes back with the HTTP request that waits for it, from the
// turn's own result; so there is nothing to send here, nobody can be asked, and
// outbound/{uuid}/ stays for the client to fetch.
package api
