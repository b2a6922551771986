// Package wire has what connectors to web APIs share when a call fails: which statuses
// are final, how long a Retry-After is believed, and words for an error in which no
// secret stands.
//
// What an answer means is each connector's own; here is only what HTTP says.
package wire
