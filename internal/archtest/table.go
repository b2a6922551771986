package archtest

// module is the import path of everything that is ours.
const module = "github.com/countersignhq/countersign/"

// row is a package, or a family of them, and what it may import.
type row struct {
	// packages are paths below the module; a last element * is any one element.
	packages []string
	// ours are the packages of ours that it may import, besides its own
	// sub-packages. A name covers the package alone; name/... all below it too.
	ours []string
	// vendors are the restricted vendors that it may import.
	vendors []string
}

// The vendors that only some rooms may know. Every other module is free.
const (
	temporal       = "temporal"
	temporalClient = "temporal client"
	fx             = "fx"
	goRedis        = "go-redis"
	blobs          = "blobs"
	telegram       = "telegram"
	slack          = "slack"
	mail           = "mail"
)

// vendorPaths are the import paths of each, a prefix each. The first that fits counts.
var vendorPaths = []struct{ vendor, prefix string }{
	{temporalClient, "go.temporal.io/sdk/client"},
	{temporalClient, "go.temporal.io/sdk/contrib/envconfig"},
	{temporal, "go.temporal.io/"},
	{fx, "go.uber.org/fx"},
	{goRedis, "github.com/redis/"},
	{blobs, "gocloud.dev/"},
	{blobs, "github.com/aws/"},
	{telegram, "github.com/go-telegram-bot-api/"},
	{slack, "github.com/slack-go/"},
	{mail, "github.com/emersion/"},
}

// everything may be imported by app, which puts the house together.
const everything = "..."

// table is the import table. fx is allowed in app and in files named fx.go,
// which may also import config.
var table = []row{
	// Pure: they decide, and know nobody.
	{packages: []string{"tool", "chat"}},
	{packages: []string{"approval"}, ours: []string{"tool", "chat"}},
	{packages: []string{"config"}, ours: []string{"chat", "words"}},
	// What is said to people. Workflows never import it: they pass lines.
	{packages: []string{"words"}, ours: []string{"chat"}},

	// What a history records, and who decides by it.
	{packages: []string{"contract"}, ours: []string{"tool", "chat", "approval"}, vendors: []string{temporal}},
	{packages: []string{"workflows"}, ours: []string{"contract", "tool", "approval", "chat"}, vendors: []string{temporal}},
	{
		packages: []string{"activities"},
		ours:     []string{"contract", "tool", "chat", "approval", "agent", "attachments", "words"},
		vendors:  []string{temporal},
	},
	{packages: []string{"dispatch"}, ours: []string{"contract", "chat"}, vendors: []string{temporal, temporalClient}},

	// The edge. Approval is there for its rule about a leading mention.
	// Those that are the gateway's own pages fill its ports.
	{packages: []string{"connectors/api"}, ours: []string{"chat", "config", "contract", "attachments", "inbox", "gateway/..."}},
	{
		packages: []string{"connectors/web"},
		ours:     []string{"chat", "config", "contract", "attachments", "inbox", "gateway/...", "approval", "tool", "words", "internal/listing"},
		vendors:  []string{blobs}, // what was said in a session, kept on the attachments disk
	},
	{packages: []string{"connectors/web/openid"}},
	{packages: []string{"connectors/telegram"}, ours: []string{"chat", "config", "attachments", "approval", "words", "connectors/chunk", "connectors/listen", "connectors/wire"}, vendors: []string{telegram}},
	{packages: []string{"connectors/slack"}, ours: []string{"chat", "config", "attachments", "approval", "words", "connectors/chunk", "connectors/wire"}, vendors: []string{slack}},
	{packages: []string{"connectors/email"}, ours: []string{"chat", "config", "attachments", "approval", "words", "connectors/listen", "connectors/wire"}, vendors: []string{mail}},
	{packages: []string{"connectors/email/letter"}, ours: []string{"chat", "approval"}, vendors: []string{mail}},
	{packages: []string{"connectors/email/auth"}, ours: []string{"chat", "connectors/email/letter"}, vendors: []string{mail}},
	{packages: []string{"connectors/email/emailtest"}, vendors: []string{mail}},
	// What several of them do alike; they know no connector.
	{packages: []string{"connectors/chunk", "connectors/wire"}},
	{packages: []string{"connectors/listen"}, ours: []string{"chat"}},
	{packages: []string{"connectors/terminal"}, ours: []string{"chat", "config", "attachments"}},
	// Servers that speak a platform's protocol, for the tests of its connector.
	{packages: []string{"connectors/*/*test"}, ours: []string{"chat", "connectors/connectortest"}},
	{packages: []string{"connectors/connectortest"}, ours: []string{"chat"}},
	{packages: []string{"gateway"}, ours: []string{"chat", "contract", "tool", "config", "inbox"}},
	{packages: []string{"gateway/ratelimit"}},
	{packages: []string{"gateway/delivered"}, ours: []string{"internal/listing"}, vendors: []string{blobs}},
	{packages: []string{"events"}, ours: []string{"contract", "chat", "gateway"}},
	{packages: []string{"inbox"}, ours: []string{"contract", "chat", "tool"}},
	// Adapters of the ports that activities declare.
	{packages: []string{"audit"}, ours: []string{"activities", "contract", "chat", "tool"}},

	// Tools and where they keep things.
	{packages: []string{"toolbox/workspace"}, ours: []string{"tool", "chat", "approval", "disks", "attachments"}, vendors: []string{blobs}}, // its state; approval and files in its examples
	// Chat is there for chat.File, which attachments speak in.
	{packages: []string{"toolbox/*"}, ours: []string{"tool", "chat", "disks", "attachments"}},
	{packages: []string{"disks"}, vendors: []string{blobs}},
	{packages: []string{"attachments"}, ours: []string{"disks", "chat"}, vendors: []string{blobs}},
	{packages: []string{"transcript"}, ours: []string{"internal/listing", "agent", "chat", "contract", "disks", "attachments"}, vendors: []string{blobs}},
	{packages: []string{"agent"}, ours: []string{"tool", "chat", "contract"}},
	{packages: []string{"agent/*"}, ours: []string{"agent", "approval", "tool", "chat", "contract", "words"}},
	{packages: []string{"rediscompat"}, ours: []string{"chat", "contract"}, vendors: []string{goRedis}},
	{packages: []string{"rediscompat/embedded"}},
	{packages: []string{"devstack"}},

	// What is configured against what is there; the connectors are asked, not used.
	{
		packages: []string{"doctor"},
		ours:     []string{"chat", "config", "contract", "connectors/telegram", "connectors/slack", "connectors/email", "disks", "rediscompat"},
		vendors:  []string{temporal, temporalClient},
	},

	// The programs.
	{
		packages: []string{"app", "app/*"}, ours: []string{everything},
		vendors: []string{temporal, temporalClient, fx, blobs},
	},
	{packages: []string{"worker", "starter"}, ours: []string{"app/..."}},

	// Tests that are packages of their own.
	{packages: []string{"internal/archtest"}},
	{packages: []string{"internal/listing"}, vendors: []string{blobs}},
	{packages: []string{"internal/testtools"}, vendors: []string{blobs}},
	{packages: []string{"e2e", "e2e/*"}, ours: []string{"contract", "devstack", "internal/testtools", "connectors/web/oidctest"}, vendors: []string{temporal, temporalClient, goRedis}},
}
