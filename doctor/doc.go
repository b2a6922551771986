// Package doctor checks a configuration against the live platforms and says of each
// problem how to mend it: `starter doctor`.
//
// An [Area] is a set of checks that belong together: what is configured, Temporal,
// Redis, the disks, the gateway, each connector, the people. [Run] runs areas side by
// side, each with a time of its own, so that one that hangs neither holds up nor hides
// the others. What it finds goes into [Notes], one [Finding] a line.
//
// The areas are structs of what they look at: a part of the configuration and a small
// port each, so that they can be shown to a fake. They change nothing anywhere, save
// for a probe on the attachments disk that is deleted at once, and send no message.
// What a platform says is data: it may be a page of HTML, and is cut and scrubbed.
//
// "Not running" is a warning: the configuration is right before the first start too.
package doctor
