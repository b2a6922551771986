// Package filemanager is the tool with which an agent works on files: list,
// read, exists, write, append, mkdir, move, copy, delete, save_attachment,
// attach_to_reply and download_url (CONTRACT §7).
//
// It sees the allowed disks only, and never the folders of message attachments:
// package disks sees to that for every operation. Each operation's Available
// says beforehand, in words, what Run would refuse.
package filemanager
