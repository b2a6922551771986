package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
)

func TestScope(t *testing.T) {
	t.Parallel()
	thread := chat.Thread{Connector: chat.Telegram, Key: "-100"}
	ada := chat.Person{ID: "telegram:1001", Name: "ada"}
	for name, test := range map[string]struct {
		scope   config.Scope
		allowed bool
	}{
		"nothing set":       {config.Scope{}, true},
		"connector":         {config.Scope{Connectors: []string{"telegram"}}, true},
		"another connector": {config.Scope{Connectors: []string{"web"}}, false},
		"thread":            {config.Scope{Threads: []string{"telegram:-100"}}, true},
		"another thread":    {config.Scope{Threads: []string{"telegram:-1"}}, false},
		"name":              {config.Scope{People: []string{"ada"}}, true},
		"platform id":       {config.Scope{People: []string{"telegram:1001"}}, true},
		"somebody else":     {config.Scope{People: []string{"bob"}}, false},
		"all must hold":     {config.Scope{People: []string{"ada"}, Connectors: []string{"web"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.allowed, test.scope.Allows(thread, ada))
		})
	}
	require.False(t, config.Scope{People: []string{""}}.Allows(thread, chat.Person{}), "nobody is no name")
}
