// Package attachments keeps the files of messages on one disk: what came in
// under inbound/{uuid}/, what goes out under outbound/{uuid}/ (CONTRACT §6).
// There is no table: the disk is the truth, and the message's uuid the key.
//
// Connectors save what they download with Inbound(uuid).Set; tools write with
// Outbound(uuid).Set. Names are the sender's data and go through SafeName.
package attachments
