// Package config is the configuration as one typed value: [Load] takes the
// defaults, lays countersign.yaml over them and the environment over that,
// and then [Config.Validate] reports every problem at once, each with its key
// and what to do about it (CONTRACT §8).
//
// The struct tags of [Config] are the only list of keys: `koanf` is the name
// in the file, `env` the variable's documented name, `default` the default.
// Every key also has the variable COUNTERSIGN_ + its path in upper case with
// underscores. An empty variable counts as not set.
//
// Nothing here reads the process: variables and files come in as functions.
package config
