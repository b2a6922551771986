// Package events is the live feed behind GET /api/events and the web page: a
// bus inside one process, and Watch, which fills it from the list of pending
// questions where the engine is another process.
//
// It is a convenience, never a record: whoever was not listening asks the
// gateway how things stand.
package events
