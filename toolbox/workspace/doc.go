// Package workspace is the example tool of confirmation and handoff: a workspace
// with a name, of which a publication can be made.
//
//   - save_workspace_name asks once: it is a write with confirm true, and "Always
//     allow" is offered.
//   - reset_workspace asks every time: it is dangerous.
//   - publish_changes is a handoff: a person enters a verification code on the
//     workspace's own page and presses Publish there. No operation can do it, and
//     its Expect reads the stored state, not what anybody says.
//
// The state is two objects (Store): the draft, which only the tool writes, and the
// publication, which only the page writes. So no writer can undo another's work,
// also where engine and gateway run on different machines.
package workspace
