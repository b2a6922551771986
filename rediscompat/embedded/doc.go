// Package embedded is a Redis inside the process, for development: what
// "make run" uses when REDIS_URL is not set. It is miniredis with a clock, so
// that keys expire by themselves. Nothing is kept over a restart, nor has it to
// be: the keys are a mirror, and package rediscompat rebuilds them.
package embedded
