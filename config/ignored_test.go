package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/config"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	require.Equal(t, []config.Variable{
		{Name: "COUNTERSIGN_DISKS_", Near: "COUNTERSIGN_DISKS"},
		{Name: "COUNTERSIGN_EMAIL_IMAP_HOSTS", Near: "COUNTERSIGN_EMAIL_IMAP_HOST"},
		{Name: "COUNTERSIGN_PORT"},
		{Name: "COUNTERSIGN_PUBLICURL", Near: "COUNTERSIGN_PUBLIC_URL"},
		{Name: "LARACLAW_REDIS_PREFIX", Near: "COUNTERSIGN_REDIS_PREFIX"},
		{Name: "LARACLAW_TELEGRAM_TOKE", Near: "LARACLAW_TELEGRAM_TOKEN"},
		{Name: "LARACLAW_WHATSAPP_NUMBER"},
	}, config.Ignored([]string{
		"LARACLAW_TELEGRAM_TOKE=1:secret", "LARACLAW_TELEGRAM_TOKEN=1:secret", "COUNTERSIGN_PUBLICURL=https://x",
		"COUNTERSIGN_DISKS_ARCHIVE=s3://x", "COUNTERSIGN_DISKS_=x", "COUNTERSIGN_TOKEN=x", "COUNTERSIGN_URL=x", "COUNTERSIGN_CONFIG=x",
		"COUNTERSIGN_PORT_8080_TCP_ADDR=10.0.0.1", "COUNTERSIGN_SERVICE_HOST=10.0.0.1", "COUNTERSIGN_PORT=9000",
		"COUNTERSIGN_EMAIL_IMAP_HOSTS=x", "LARACLAW_WHATSAPP_NUMBER=1", "LARACLAW_REDIS_PREFIX=x", "REDIS_URL=x", "PATH=x", "HOME", "",
		"TEMPORAL_ADRESS=x",
	}))
	require.Empty(t, config.Ignored([]string{"COUNTERSIGN_PORT=tcp://10.0.0.1:8080"}))
	require.Empty(t, config.Ignored(nil))
}
