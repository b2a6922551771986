package filemanager

import "time"

// WithTimeout shortens a download's time.
func WithTimeout(params Params, timeout time.Duration) Params {
	params.timeout = timeout
	return params
}
