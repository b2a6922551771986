// Package approval says how much a person must agree to an operation, and
// whether they did.
//
// Start with Resolve: it turns a declaration into a Mode. Render makes the
// question, Read reads an answer, MayAnswer and Tally say whether it counts, and
// Digest pins what was approved. Outcomes are values: see Code and StatusOf.
//
// The package is pure and deterministic: no input or output, no clock, no order
// of a map. Workflows may call it, except Render, Digest and Apply, which belong
// into the plan: they use encoding/json, into which workflowcheck cannot see. No
// zero value approves anything.
package approval
