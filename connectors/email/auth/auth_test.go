package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/auth"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

const (
	border = "mx.example.test"
	mail   = "From: Ada <ada@example.test>\nTo: bot@bot.test\nSubject: x\nMessage-ID: <1@example.test>\n\nyes\n"
)

func check(t testing.TB, c auth.Checker, raw, from string) (auth.Proof, error) {
	t.Helper()
	raw = emailtest.CRLF(raw)
	h, _, err := letter.Open(strings.NewReader(raw))
	require.NoError(t, err)
	return c.Check(t.Context(), h, strings.NewReader(raw), from)
}

func TestDKIM(t *testing.T) {
	t.Parallel()
	zone := &emailtest.Zone{}
	ours := emailtest.NewDomain(t, zone, "example.test")
	sub := emailtest.NewDomain(t, zone, "mail.example.test")
	strict := emailtest.NewDomain(t, zone, "mail.strict.test")
	odd := emailtest.NewDomain(t, zone, "mail.odd.test")
	zone.TXT("_dmarc.strict.test", "v=DMARC1; p=reject; adkim=s")
	zone.TXT("_dmarc.odd.test", "v=DMARC1; p=whatever")
	other := emailtest.NewDomain(t, zone, "attacker.test")
	platform := emailtest.NewDomain(t, zone, "evil.github.io")
	signed := ours.Sign(t, mail)
	umlaut := emailtest.NewDomain(t, zone, "xn--bcher-kva.test")
	unpublished := emailtest.NewDomain(t, &emailtest.Zone{}, "nokey.test")
	for name, tt := range map[string]struct {
		raw, from string
		proven    bool
	}{
		"signed":                   {signed, "ada@example.test", true},
		"no signature":             {mail, "ada@example.test", false},
		"subdomain signs":          {sub.Sign(t, mail), "ada@example.test", true},
		"subdomain, strict policy": {strict.Sign(t, mail), "ada@strict.test", false},
		"policy is not readable":   {odd.Sign(t, mail), "ada@odd.test", false},
		"somebody else signs":      {other.Sign(t, mail), "ada@example.test", false},
		"two signatures":           {other.Sign(t, signed), "ada@example.test", true},
		"body changed":             {strings.Replace(signed, "\r\n\r\nyes", "\r\n\r\nno", 1), "ada@example.test", false},
		"from changed":             {strings.Replace(signed, "From: Ada <ada@", "From: Ada <eve@", 1), "eve@example.test", false},
		"key is not the domain's":  {ours.Forger(t).Sign(t, mail), "ada@example.test", false},
		"key is not published":     {unpublished.Sign(t, mail), "ada@nokey.test", false},
		"letters of any script":    {umlaut.Sign(t, mail), "ada@bücher.test", true},
		"same public suffix":       {platform.Sign(t, mail), "ada@good.github.io", false},
		"a mere suffix":            {ours.Sign(t, mail), "ada@notexample.test", false},
		"only a part of the body":  {strings.Replace(signed, "DKIM-Signature: ", "DKIM-Signature: l=1; ", 1) + "more", "ada@example.test", false},
	} {
		proof, err := check(t, auth.Checker{Resolver: zone}, tt.raw, tt.from)
		if !tt.proven {
			require.ErrorIs(t, err, auth.ErrUnproven, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "dkim", proof.Method, name)
		require.True(t, proof.Covers("TO"), name)
		require.False(t, proof.Covers("Reply-To"), name)
	}
}

func TestDNSThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	zone := &emailtest.Zone{}
	ours := emailtest.NewDomain(t, zone, "example.test")
	zone.Break("test._domainkey.example.test", true)
	_, err := check(t, auth.Checker{Resolver: zone}, ours.Sign(t, mail), "ada@example.test")
	require.ErrorIs(t, err, auth.ErrLater)
	zone.Break("test._domainkey.example.test", false)
	_, err = check(t, auth.Checker{Resolver: zone}, ours.Sign(t, mail), "ada@example.test")
	require.NoError(t, err)

	sub := emailtest.NewDomain(t, zone, "mail.example.test")
	zone.Break("_dmarc.example.test", true)
	_, err = check(t, auth.Checker{Resolver: zone}, sub.Sign(t, mail), "ada@example.test")
	require.ErrorIs(t, err, auth.ErrLater)
}

// Only the border's own word counts, only the topmost, and only for From.
func TestA23AuthenticationResults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header string
		proven bool
	}{
		"dmarc":             {"Authentication-Results: mx.example.test; dmarc=pass (p=reject) header.from=example.test", true},
		"dkim":              {"Authentication-Results: mx.example.test 1;\n dkim=pass (2048-bit key; unprotected) header.d=example.test header.s=a", true},
		"dkim identity":     {"Authentication-Results: MX.example.TEST; dkim=pass header.i=@mail.example.test", true},
		"spf":               {"Authentication-Results: mx.example.test; spf=pass smtp.mailfrom=ada@example.test", true},
		"spf domain":        {"Authentication-Results: mx.example.test; spf=pass smtp.mailfrom=example.test; dkim=none", true},
		"fail":              {"Authentication-Results: mx.example.test; dmarc=fail header.from=example.test; dkim=fail header.d=example.test", false},
		"none":              {"Authentication-Results: mx.example.test; none", false},
		"other domain":      {"Authentication-Results: mx.example.test; dmarc=pass header.from=attacker.test; dkim=pass header.d=attacker.test", false},
		"no domain":         {"Authentication-Results: mx.example.test; dmarc=pass; dkim=pass; spf=pass", false},
		"other host":        {"Authentication-Results: mx.attacker.test; dmarc=pass header.from=example.test", false},
		"host as a prefix":  {"Authentication-Results: mx.example.test.attacker.test; dmarc=pass header.from=example.test", false},
		"the lower of two":  {"Authentication-Results: mx.example.test; dmarc=fail header.from=example.test\nAuthentication-Results: mx.example.test; dmarc=pass header.from=example.test", false},
		"below another's":   {"Authentication-Results: other.test; dmarc=fail\nAuthentication-Results: mx.example.test; dmarc=pass header.from=example.test", true},
		"in a comment":      {"Authentication-Results: mx.example.test; spf=fail (x; dmarc=pass header.from=example.test) smtp.mailfrom=x@attacker.test", false},
		"in a quoted value": {"Authentication-Results: mx.example.test; spf=pass smtp.mailfrom=\"a; dmarc=pass header.from=example.test ;\"@attacker.test", false},
		"open comment":      {"Authentication-Results: mx.example.test; dmarc=pass header.from=example.test (", false},
		"helo only":         {"Authentication-Results: mx.example.test; spf=pass smtp.helo=example.test", false},
	} {
		raw := tt.header + "\n" + mail
		proof, err := check(t, auth.Checker{Resolver: &emailtest.Zone{}, Border: border}, raw, "ada@example.test")
		if tt.proven {
			require.NoError(t, err, name)
			require.Equal(t, "authentication-results", proof.Method, name)
			require.True(t, proof.Covers("To"), name)
		} else {
			require.ErrorIs(t, err, auth.ErrUnproven, name)
		}
		// Without a border that is configured nobody's word counts.
		_, err = check(t, auth.Checker{Resolver: &emailtest.Zone{}}, raw, "ada@example.test")
		require.ErrorIs(t, err, auth.ErrUnproven, name)
	}
}

func TestSPF(t *testing.T) {
	t.Parallel()
	zone := &emailtest.Zone{}
	zone.TXT("example.test", "v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 -all")
	zone.TXT("attacker.test", "v=spf1 +all")
	path := "Return-Path: <ada@example.test>\n"
	for name, tt := range map[string]struct {
		header string
		proven bool
	}{
		"passes":               {path + "Received: from out.example.test (out.example.test [192.0.2.1])\n\tby mx.example.test (Postfix) with ESMTPS id 1; now", true},
		"v6":                   {path + "Received: from out.example.test (out [IPv6:2001:db8::1]) by mx.example.test with ESMTP; now", true},
		"behind inner hops":    {path + "Received: from mx.example.test by store.example.test with LMTP; now\nReceived: from x (x [192.0.2.1]) by mx.example.test; now", true},
		"fails":                {path + "Received: from out.example.test (x [198.51.100.7]) by mx.example.test; now", false},
		"not our border":       {path + "Received: from x (x [192.0.2.1]) by mx.attacker.test; now", false},
		"lower than ours":      {path + "Received: from x (x [198.51.100.7]) by mx.example.test; now\nReceived: from x (x [192.0.2.1]) by mx.example.test; now", false},
		"helo as an address":   {path + "Received: from [192.0.2.1] (x [198.51.100.7]) by mx.example.test; now", false},
		"helo beside address":  {path + "Received: from x ([198.51.100.7] helo=[192.0.2.1]) by mx.example.test; now", false},
		"by in a comment":      {path + "Received: from x (x [192.0.2.1] by mx.example.test) by mx.attacker.test; now", false},
		"path below":           {"Received: from x (x [192.0.2.1]) by mx.example.test; now\n" + path, false},
		"no path":              {"Received: from x (x [192.0.2.1]) by mx.example.test; now", false},
		"null path":            {"Return-Path: <>\nReceived: from x (x [192.0.2.1]) by mx.example.test; now", false},
		"not aligned":          {"Return-Path: <eve@attacker.test>\nReceived: from x (x [192.0.2.1]) by mx.example.test; now", false},
		"two paths, top first": {"Return-Path: <eve@attacker.test>\n" + path + "Received: from x (x [192.0.2.1]) by mx.example.test; now", false},
	} {
		proof, err := check(t, auth.Checker{Resolver: zone, Border: border}, tt.header+"\n"+mail, "ada@example.test")
		if tt.proven {
			require.NoError(t, err, name)
			require.Equal(t, auth.Proof{Method: "spf", Domain: "example.test"}, proof, name)
		} else {
			require.ErrorIs(t, err, auth.ErrUnproven, name)
		}
	}
	zone.Break("example.test", true)
	_, err := check(t, auth.Checker{Resolver: zone, Border: border},
		path+"Received: from x (x [192.0.2.1]) by mx.example.test; now\n"+mail, "ada@example.test")
	require.ErrorIs(t, err, auth.ErrLater)
}

func FuzzCheck(f *testing.F) {
	f.Add("Authentication-Results", "mx.example.test; dmarc=pass header.from=example.test")
	f.Add("Authentication-Results", "mx.example.test; spf=pass smtp.mailfrom=\"a;\\\"\"@x (;(")
	f.Add("Received", "from x (x [192.0.2.1]) by mx.example.test")
	f.Add("DKIM-Signature", "v=1; a=rsa-sha256; d=example.test; s=x; h=from; bh=; b=")
	f.Fuzz(func(t *testing.T, name, value string) {
		h := letter.Header{{Name: "Return-Path", Value: "<ada@example.test>"}, {Name: name, Value: value}, {Name: "From", Value: "ada@example.test"}}
		raw := "Return-Path: <ada@example.test>\r\n" + name + ": " + value + "\r\nFrom: ada@example.test\r\n\r\nyes\r\n"
		_, _ = auth.Checker{Resolver: &emailtest.Zone{}, Border: border}.Check(t.Context(), h, strings.NewReader(raw), "ada@example.test")
	})
}

// The same over a wire, from a server that is named.
func TestDNSServer(t *testing.T) {
	t.Parallel()
	zone := &emailtest.Zone{}
	ours := emailtest.NewDomain(t, zone, "example.test")
	sub := emailtest.NewDomain(t, zone, "mail.strict.test")
	zone.TXT("_dmarc.strict.test", "v=DMARC1; p=reject; adkim=s; rua=mailto:"+strings.Repeat("x", 300)+"@strict.test")
	resolver := auth.DNS(zone.Serve(t))
	proof, err := check(t, auth.Checker{Resolver: resolver}, ours.Sign(t, mail), "ada@example.test")
	require.NoError(t, err)
	require.Equal(t, "dkim", proof.Method)
	_, err = check(t, auth.Checker{Resolver: resolver}, sub.Sign(t, mail), "ada@strict.test")
	require.ErrorIs(t, err, auth.ErrUnproven)
	zone.Break("test._domainkey.example.test", true)
	_, err = check(t, auth.Checker{Resolver: resolver}, ours.Sign(t, mail), "ada@example.test")
	require.ErrorIs(t, err, auth.ErrLater)
	for _, name := range zone.Asked() {
		require.Contains(t, []string{"test._domainkey.example.test", "test._domainkey.mail.strict.test", "_dmarc.strict.test"}, name,
			"no name of this machine's search list")
	}
	// A server that is not there is no word about the sender.
	_, err = check(t, auth.Checker{Resolver: auth.DNS("127.0.0.1:1")}, ours.Sign(t, mail), "ada@example.test")
	require.ErrorIs(t, err, auth.ErrLater)
}
