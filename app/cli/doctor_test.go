package cli

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/doctor"
)

func found(statuses ...doctor.Status) doctor.Report {
	report := doctor.Report{Status: doctor.OK}
	texts := map[doctor.Status]doctor.Finding{
		doctor.OK:   {Area: "temporal", Check: "namespace", Detail: "default"},
		doctor.Off:  {Area: "redis", Check: "redis", Detail: "not configured"},
		doctor.Warn: {Area: "telegram", Check: "groups", Detail: "privacy mode is on", Mend: "@BotFather, /setprivacy"},
		doctor.Fail: {Area: "telegram", Check: "token", Detail: "evil\x1b[2Ktext <b>", Mend: "copy it"},
	}
	for _, status := range statuses {
		f := texts[status]
		f.Status = status
		report.Findings = append(report.Findings, f)
		if status == doctor.Fail {
			report.Status = status
		}
	}
	return report
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Equal(t, Failed, b.run(t, "doctor"), "nobody to ask")

	var areas []string
	var at string
	report := found(doctor.OK, doctor.Off, doctor.Warn, doctor.Fail)
	colour := false
	b.params = func(p *Params) {
		p.Colour, p.Problem = colour, errors.New("the configuration is wrong")
		p.Examine = func(_ context.Context, names []string, url string) doctor.Report {
			areas, at = names, url
			return report
		}
	}
	require.Equal(t, Failed, b.run(t, "doctor"))
	require.Equal(t, `temporal
  ✓ namespace  default

redis
  – redis      not configured

telegram
  ! groups     privacy mode is on
      → @BotFather, /setprivacy
  ✗ token      evil\u{001B}[2Ktext <b>
      → copy it

1 ok, 1 to look at, 1 wrong
`, b.stdout.String())
	require.Empty(t, b.stderr.String(), "it tells itself what is wrong with the configuration")
	require.Empty(t, areas)
	require.NotEmpty(t, at, "COUNTERSIGN_URL")

	require.Equal(t, Failed, b.run(t, "doctor", "telegram", "redis", "--url", "http://x:1/", "-o", "json"))
	require.Equal(t, []string{"telegram", "redis"}, areas)
	require.Equal(t, "http://x:1", at)
	var decoded doctor.Report
	require.NoError(t, json.Unmarshal(b.stdout.Bytes(), &decoded))
	require.Equal(t, report, decoded)

	colour = true
	require.Equal(t, Failed, b.run(t, "doctor"))
	require.Contains(t, b.stdout.String(), "  \x1b[31m✗\x1b[0m token      evil\\u{001B}[2Ktext")

	report = found(doctor.OK, doctor.Warn)
	require.Equal(t, Done, b.run(t, "doctor"), "warnings are allowed")
	delete(b.env, "COUNTERSIGN_URL")
	require.Equal(t, Done, b.run(t, "doctor"))
	require.Empty(t, at, "where the configuration says")

	areas = nil
	require.Equal(t, Usage, b.run(t, "doctor", "telegramm"))
	require.Contains(t, b.stderr.String(), `no area "telegramm"; there are configuration, people`)
	require.Nil(t, areas)

	require.Equal(t, Done, b.run(t, "tokens", "create"))
	require.Contains(t, b.stderr.String(), "starter: warning: the configuration is wrong")
}

func TestGatewayAt(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":9000": "http://127.0.0.1:9000", "[::]:80": "http://127.0.0.1:80",
		"gw.example.test:80": "http://gw.example.test:80", "127.0.0.1:0": "", "": "", "nonsense": "",
	} {
		address, ok := GatewayAt(addr)
		require.Equal(t, want, address, addr)
		require.Equal(t, want != "", ok, addr)
	}
}
