package contract

import (
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/chat"
)

// StatusAttribute is the search attribute that a workflow itself changes.
var StatusAttribute = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)

var (
	connectorAttribute = temporal.NewSearchAttributeKeyKeyword(AttributeConnector)
	threadAttribute    = temporal.NewSearchAttributeKeyKeyword(AttributeThread)
	toolAttribute      = temporal.NewSearchAttributeKeyKeyword(AttributeTool)
	operationAttribute = temporal.NewSearchAttributeKeyKeyword(AttributeOperation)
)

// keywordLimit is how many bytes of a keyword Temporal's stores take.
const keywordLimit = 255

// SearchAttributes of an invocation; none where the namespace does not know them.
func (i Invocation) SearchAttributes() temporal.SearchAttributes {
	if !i.Attributes {
		return temporal.SearchAttributes{}
	}
	return temporal.NewSearchAttributes(
		connectorAttribute.ValueSet(i.Thread.Connector), threadAttribute.ValueSet(keyword(i.Thread.Key)),
		toolAttribute.ValueSet(keyword(i.Tool)), operationAttribute.ValueSet(keyword(i.Operation)),
		StatusAttribute.ValueSet("running"),
	)
}

// ThreadAttributes of a conversation or a turn.
func ThreadAttributes(t chat.Thread, registered bool) temporal.SearchAttributes {
	if !registered {
		return temporal.SearchAttributes{}
	}
	return temporal.NewSearchAttributes(connectorAttribute.ValueSet(t.Connector), threadAttribute.ValueSet(keyword(t.Key)))
}

// keyword cuts at the end of a rune: what is no UTF-8 would be refused with the whole start.
func keyword(s string) string {
	if len(s) <= keywordLimit {
		return s
	}
	cut := keywordLimit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
