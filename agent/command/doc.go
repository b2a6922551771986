// Package command is the agent that needs no model: a person writes the call.
//
//	/file_manager delete disk=local path=reports/old.csv
//	/file_manager write disk=local path="a b.txt" content='two words'
//	/file_manager delete disk=local paths=["a.csv", "b.csv"]
//	/help
package command
