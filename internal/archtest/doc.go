// Package archtest is the import table of the design as a test: which of our
// packages may import which, and where each vendor may appear. The table is in
// table.go; a package that it does not cover fails the test.
//
// Imports are read from the source without compiling it, so that the test is
// quick and also works while a package does not build. Test files are free to
// import what they need, except where Go itself forbids a cycle.
package archtest
