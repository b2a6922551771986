package email

// What this connector says itself; package words has the texts.
const (
	lineHow      = "email_how"
	lineAlways   = "email_always"
	lineUntil    = "email_until"
	lineBuried   = "email_buried"
	lineSubject  = "email_subject"
	lineMessage  = "email_message"
	lineTooLarge = "email_too_large"
)
