// Package terminal is the outgoing side of `starter chat` (CONTRACT §8). The
// text of an answer goes back with the HTTP request that waits for it. Its
// files are copied to a store first, because outbound/{uuid}/ goes as soon as
// the reply is out; the client fetches them from the gateway and then deletes
// them there.
package terminal
