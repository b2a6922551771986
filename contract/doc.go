// Package contract holds everything that a workflow history records: names,
// ids, signals and payloads. A history outlives the program that wrote it, so a
// rename here is a migration; testdata/contract.golden.json pins the JSON.
//
// It is a leaf: workflows, activities and dispatch meet here.
package contract
