package email_test

import (
	"fmt"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/connectortest"
	"github.com/countersignhq/countersign/connectors/email"
)

func ExampleNew() {
	connector, err := email.New(email.Params{
		IMAP:    email.Server{Host: "imap.example.test", Port: 993, Encryption: email.TLS, Username: "bot", Password: "…"},
		SMTP:    email.Server{Host: "smtp.example.test", Port: 587, Encryption: email.StartTLS, Username: "bot", Password: "…"},
		Address: "bot@example.test", Name: "Countersign", TokenSecret: "from openssl rand -hex 32",
		Identify: func(id string) chat.Person { return chat.Person{ID: id} },
		Desk:     &connectortest.Desk{}, Files: &disk{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", connector.Traits())
	// connector.Poll(ctx, offset, heartbeat) listens; connector.Post asks.

	// Output: {Name:email Asks:true DeletesOutbound:true}
}
