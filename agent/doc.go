// Package agent is the port to whatever proposes tool calls: a model, a script,
// or the command agent, which needs no model.
//
// An agent only proposes. It cannot run anything and never answers a question:
// every call goes through ToolInvocation.
package agent
