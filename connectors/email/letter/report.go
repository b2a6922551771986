package letter

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Delivery is a mail server's report on what became of a mail (RFC 3464).
type Delivery struct {
	// Action is "failed", "delayed", "delivered", "relayed" or "expanded", lower case.
	Action string
	// Status is the enhanced code, "5.1.1" (RFC 3463), and Diagnostic what the server said.
	Status, Diagnostic string
	// Original is the header of the mail that it is about; nil where the report has none.
	Original Header
}

// maxReport of a report is read, in bytes: what counts stands before the mail's own body.
const maxReport = 1 << 20

// MayReport tells whether a mail can hold such a report. RFC 3464 wants multipart/report;
// not every server heeds that, so that only reading it tells.
func MayReport(h Header) bool {
	return strings.HasPrefix(parseParameters(h.First("Content-Type")).value, "multipart/")
}

// ReadDelivery reads a report behind its header; without an Action it is none. Of several
// recipients the first one counts that the mail did not reach. The error is one of the source.
func ReadDelivery(h Header, body io.Reader) (Delivery, error) {
	var d Delivery
	all := newParts(io.LimitReader(body, maxReport), parseParameters(h.First("Content-Type")).raw("boundary"))
	for {
		part, err := all.next()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return d, err
		}
		header, content, err := openPart(part)
		if err != nil {
			return d, err
		}
		decoded := bufio.NewReader(decodeTransfer(header.First("Content-Transfer-Encoding"), content))
		switch parseParameters(header.First("Content-Type")).value {
		case "message/delivery-status", "message/global-delivery-status":
			err = d.recipients(decoded)
		case "message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers":
			d.Original, _, err = readHeader(decoded, true)
		}
		if err != nil {
			return d, err
		}
	}
}

// recipients reads groups of fields: one about the mail, and one for each recipient.
func (d *Delivery) recipients(r *bufio.Reader) error {
	for d.Action != "failed" {
		group, _, err := readHeader(r, true)
		if err != nil {
			return err
		}
		if action := strings.ToLower(group.First("Action")); action != "" && (d.Action == "" || action == "failed") {
			d.Action, d.Status = action, group.First("Status")
			d.Diagnostic = DecodeWords(group.First("Diagnostic-Code"))
		}
		if _, err := r.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
	}
	return nil
}
