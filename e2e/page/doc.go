// Package page drives the web page in a headless Chromium, against the built
// worker on a real Temporal (package harness). Only what a person sees and does
// in a browser is used: no test reaches into the page's own code.
package page
