package letter_test

import (
	"strings"
	"testing"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// Whatever a report holds, it ends, and says nothing that does not stand in it.
func FuzzReadDelivery(f *testing.F) {
	f.Add("multipart/report; report-type=delivery-status; boundary=b",
		"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: x\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n"+
			"--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <q.x@y>\r\n\r\nyes\r\n--b--\r\n")
	f.Add("multipart/mixed;boundary=\"1/x\"", "--1/x\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\nQWN0aW9uOiBkZWxheWVk")
	f.Add("multipart/report", "--\r\n\r\n")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		report, err := letter.ReadDelivery(letter.Header{{Name: "Content-Type", Value: contentType}}, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if report.Action != "" && !strings.Contains(body, "--") {
			t.Fatalf("%+v stands in no part", report)
		}
	})
}
