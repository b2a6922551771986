package web

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/gateway"
)

// An answer counts once, even if the provider would take the code again.
func TestAnAttemptCountsOnce(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	visitor := l.browser(t)
	path := l.back(t, visitor.leave(), "sub-of-ada")
	visitor.get(path)
	require.Contains(t, visitor.body, "Go on")
	visitor.get(path)
	require.Equal(t, 403, visitor.status)
	require.Equal(t, 1, l.provider.Exchanged())
}

// What is changed on the way, or by a provider that is not who it says, is not believed.
func TestProofs(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	token := func(change func(header, claims map[string]any)) func(map[string]any) {
		return func(answer map[string]any) {
			raw, ok := answer["id_token"].(string)
			if !ok {
				return
			}
			parts := strings.Split(raw, ".")
			decoded := [2]map[string]any{}
			for n := range decoded {
				text, err := base64.RawURLEncoding.DecodeString(parts[n])
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, &decoded[n]))
			}
			change(decoded[0], decoded[1])
			for n := range decoded {
				text, err := json.Marshal(decoded[n])
				require.NoError(t, err)
				parts[n] = base64.RawURLEncoding.EncodeToString(text)
			}
			if decoded[0]["alg"] == "none" {
				parts[2] = ""
			}
			answer["id_token"] = strings.Join(parts, ".")
		}
	}
	for name, change := range map[string]func(answer map[string]any){
		"no ID token":          func(answer map[string]any) { delete(answer, "id_token") },
		"another subject":      token(func(_, claims map[string]any) { claims["sub"] = "sub-of-ada" }),
		"not signed":           token(func(header, _ map[string]any) { header["alg"] = "none" }),
		"signed with a secret": token(func(header, _ map[string]any) { header["alg"] = "HS256" }),
		"another access token": func(answer map[string]any) {
			if answer["id_token"] != nil {
				answer["access_token"] = "another"
			}
		},
		"userinfo of another": func(answer map[string]any) {
			if answer["email"] != nil {
				answer["sub"], answer["email"], answer["email_verified"] = "sub-of-ada", "ada@example.test", true
			}
		},
	} {
		l.provider.Change(change)
		visitor := l.browser(t)
		visitor.get(l.back(t, visitor.leave(), "sub-of-eve"))
		require.Equal(t, 403, visitor.status, name)
		require.Contains(t, visitor.body, "is not proven", name)
	}
	l.provider.Change(nil)
	l.later = 2 * time.Hour // an ID token is good for one
	visitor := l.browser(t)
	visitor.get(l.back(t, visitor.leave(), "sub-of-ada"))
	require.Equal(t, 403, visitor.status)
	require.Contains(t, visitor.body, "is not proven")
	require.Contains(t, l.log.String(), "expired")
}

// The page starts, and tokens work, while the provider is away; once it is back, so is the sign-in.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	l := newLinked(t)
	l.provider.Away(true)
	visitor := l.signedIn(t, "owner")
	visitor.get("/signin/oidc")
	require.Equal(t, 502, visitor.status)
	require.Contains(t, visitor.body, "cannot be asked now")
	require.Contains(t, l.log.String(), "somebody could not sign in")
	l.provider.Away(false)
	ada := l.browser(t)
	path := l.back(t, ada.leave(), "sub-of-ada")
	l.provider.Away(true)
	ada.get(path)
	require.Equal(t, 502, ada.status)
	l.provider.Away(false)
	ada.get(l.back(t, ada.leave(), "sub-of-ada"))
	ada.get("/")
	require.Contains(t, ada.body, "Signed in as owner")
}

// What stands in the configuration wrongly is said in the log, and nothing of a secret is.
func TestProviderMisconfigured(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*openid.Params){
		"calls itself":          func(p *openid.Params) { p.Issuer += "/" },
		"is oidc.issuer right?": func(p *openid.Params) { p.Issuer += "/elsewhere" },
	} {
		l := newLinked(t, change)
		visitor := l.browser(t)
		visitor.get("/signin/oidc")
		require.Equal(t, 502, visitor.status)
		require.Contains(t, l.log.String(), want)
	}
	l := newLinked(t, func(p *openid.Params) { p.ClientSecret = "not-the-secret" })
	visitor := l.browser(t)
	visitor.get(l.back(t, visitor.leave(), "sub-of-ada"))
	require.Equal(t, 502, visitor.status)
	require.Contains(t, l.log.String(), "are oidc.client_id and oidc.client_secret right?")
	require.NotContains(t, l.log.String(), "not-the-secret")
}

func TestClaims(t *testing.T) {
	t.Parallel()
	only := newLinked(t, func(p *openid.Params) { p.Claim = "sub" })
	visitor := only.browser(t)
	visitor.get(only.back(t, visitor.leave(), "sub-of-ada"))
	require.Contains(t, visitor.body, "<bdi>sub-of-ada</bdi>", "her address is not asked for")
	require.NotContains(t, visitor.body, "ada@example.test")

	other := newLinked(t, func(p *openid.Params) { p.Claim, p.Scopes = "preferred_username", []string{"profile"} })
	other.accounts["sub-of-mallory"] = gateway.RoleApprover
	visitor = other.browser(t)
	visitor.get(other.back(t, visitor.leave(), "sub-of-mallory"))
	visitor.get("/")
	require.Contains(t, visitor.body, "Signed in as approver")
}
