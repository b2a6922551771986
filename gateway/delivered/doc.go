// Package delivered keeps the files of a reply for a client that fetches them.
//
// A chat platform takes a reply's files with the message; the terminal and the
// web page fetch them later. Their outbound/{uuid}/ folder goes as soon as the
// reply is out (CONTRACT §6), so their Sender moves the files here first. The
// store is a bucket of its own, never the attachments disk: there the File
// Manager could see it. Processes on several machines share one bucket.
package delivered
