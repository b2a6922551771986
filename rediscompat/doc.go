// Package rediscompat keeps the Redis key contract (CONTRACT §5), in both
// directions, for programs that were written for it: a Laravel install that
// shares the server reads and writes the same two keys of a conversation.
//
//	awaiting_confirm:{connector}:{thread_key}   who is waiting for an answer there
//	confirm:{connector}:{thread_key}            a list: the answers that were pushed
//
// Redis is a mirror, Temporal is the truth. Nothing here decides anything: a
// missing key never means that nobody asks, and no key means "approved". With
// Redis away every call fails within a second, later ones at once, and Run
// rebuilds the mirror when it is back.
//
// Out: Mirror.Open, Renew and Close set, prolong and remove the keys of a
// question of ours. For each one a waiter blocks on the list and hands what
// other programs push to Params.Answer. It never pops: it moves the head of the
// list onto itself (BLMOVE with the list as source and destination), so that a connection or a process
// that dies after Redis has answered loses nothing, and removes the element
// only when Answer has said that it is durable. Before the element is handed
// over it is stamped in place with an id and the time of reading; a repeat
// after a crash therefore carries the same Answer.ID and the same
// Answer.ReadAt, while a second push of the same text has an id of its own.
//
// In: Mirror.Intercept gives a message to another program that waits under the
// same keys, once per update.
//
// Every script touches one key, or keys that were named so that Redis Cluster
// puts them into one slot. Where two keys have to change, they change one after
// the other, each step repeatable.
//
// Redis 6.2 or later; with an older one, or with more questions than
// connections, waiters look at the list once a second instead of blocking.
package rediscompat
