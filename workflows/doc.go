// Package workflows decides and never does: what happens when, who is waited
// for, and what an answer means. Everything that touches the world is an
// activity.
//
// Start with ToolInvocation (invocation.go): plan, ask (question.go), run,
// settle. Conversation (conversation.go) routes what people send, one message
// at a time. Turn (turn.go) is the agent's loop over one message.
//
// What is recorded in a history is declared in package contract. A change here
// has to replay every history under testdata/histories.
package workflows
