package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

type callerKey struct{}

// caller is whose token came with a request.
type caller struct {
	person chat.Person
	role   string
	// hash is the token's SHA-256, the key of its rate limit.
	hash string
}

func callerOf(r *http.Request) caller {
	who, _ := r.Context().Value(callerKey{}).(caller)
	return who
}

// authenticate lets known tokens through (RFC 6750). What is looked up is the token's
// hash, so neither the configuration nor a timing tells the token.
func (g *gateway) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "bearer") || token == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="countersign"`)
			fail(w, http.StatusUnauthorized, "send your token as `Authorization: Bearer …`; the owner's is in the file `token` of the gateway's data folder")
			return
		}
		hash := TokenHash(token)
		person, role, ok := g.Identity.Token(hash)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="countersign", error="invalid_token"`)
			fail(w, http.StatusUnauthorized, "nobody here has this token; `starter tokens create` makes one, and its sha256 line goes into the configuration")
			return
		}
		person.Owner = role == RoleOwner
		person.Bot = person.Bot || role == RoleAgent
		who := caller{person: person, role: role, hash: hash}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// refuse keeps a role out. An unknown role is an agent's: it may do least.
func refuse(role, detail string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			has := callerOf(r).role
			if has != RoleOwner && has != RoleApprover {
				has = RoleAgent
			}
			if has == role {
				fail(w, http.StatusForbidden, detail)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
