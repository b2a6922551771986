package doctor

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// words tells an error for a person: what was being done, and what came of it.
func words(err error) string {
	if classified, ok := errors.AsType[*chat.Error](err); ok {
		return classified.Op + ": " + cause(classified.Err)
	}
	return cause(err)
}

func cause(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	if where, ok := errors.AsType[*url.Error](err); ok {
		return cause(where.Err) // without the address, which is named beside
	}
	return err.Error()
}

// passing tells whether the same may go well in a while, or elsewhere: the platform
// was not reached, or did not speak as itself.
func passing(err error) bool {
	classified, ok := errors.AsType[*chat.Error](err)
	return !ok || classified.Temporary
}

// busy is the advice where a platform said to come back later.
func busy(err error) (mend string, ok bool) {
	classified, ok := errors.AsType[*chat.Error](err)
	if !ok || classified.RetryAfter <= 0 {
		return "", false
	}
	return "it is asked too often: try again in " + classified.RetryAfter.String(), true
}

// place is where an address leads, without what may be a secret in it.
func place(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "an address that cannot be read"
	}
	return parsed.Scheme + "://" + parsed.Host + "/…"
}

// list joins names for a sentence.
func list(names []string) string { return strings.Join(names, ", ") }

// orDefault is the first text that is not empty.
func orDefault(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
