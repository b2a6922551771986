package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// classified turns a connector's error into Temporal's, in this one place: a final one is not
// retried, a temporary one not before the platform wants it.
func classified(err error) error {
	var failure *chat.Error
	if err == nil || !errors.As(err, &failure) {
		return err
	}
	if !failure.Temporary {
		return temporal.NewNonRetryableApplicationError(failure.Error(), contract.ErrorFinal, nil)
	}
	return temporal.NewApplicationErrorWithOptions(failure.Error(), contract.ErrorTemporary,
		temporal.ApplicationErrorOptions{NextRetryDelay: failure.RetryAfter})
}

// finalError is a failure that no retry mends.
func finalError(message string) error {
	return temporal.NewNonRetryableApplicationError(message, contract.ErrorFinal, nil)
}

// retryAfter is the wait that the platform asked for.
func retryAfter(err error) (wait time.Duration) {
	var failure *chat.Error
	if errors.As(err, &failure) {
		return failure.RetryAfter
	}
	return 0
}
