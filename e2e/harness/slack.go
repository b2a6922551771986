package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Carol is another approver, who is known on Slack and by her token only.
const Carol = "carol"

// The workspace of the tests, the app in it, and its people: the user ids of ada, bob,
// carol and the robot, whose role is agent. Everybody else there is a stranger.
const (
	SlackTeam     = "T01"
	SlackApp      = "U0BOT"
	SlackAda      = "U01"
	SlackBob      = "U02"
	SlackCarol    = "U03"
	SlackRobot    = "U05"
	SlackStranger = "U06"
)

// SlackPeople is COUNTERSIGN_PEOPLE of a team on Slack: each with a user id there and an
// API token.
func SlackPeople() string {
	var people []string
	for _, p := range []struct{ name, more, user string }{
		{Ada, "owner: true, telegram: [1001], ", SlackAda},
		{Bob, "telegram: [1002], ", SlackBob},
		{Carol, "", SlackCarol},
		{Robot, "role: agent, ", SlackRobot},
	} {
		sum := sha256.Sum256([]byte(Token(p.name)))
		people = append(people, fmt.Sprintf(`{name: %s, %semail: [%s@example.test], slack: ["%s/%s"], tokens: ["sha256:%s"]}`,
			p.name, p.more, p.name, SlackTeam, p.user, hex.EncodeToString(sum[:])))
	}
	return "[" + strings.Join(people, ", ") + "]"
}
