package app

import (
	"io"
	"os"
)

// Environment is what a program takes from its surroundings.
type Environment struct {
	LookupEnv func(string) (string, bool)
	Environ   []string
	ReadFile  func(string) ([]byte, error)
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
}

// Process returns this process's own environment.
func Process() Environment {
	return Environment{
		LookupEnv: os.LookupEnv, Environ: os.Environ(), ReadFile: os.ReadFile,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
}

// getenv is os.Getenv of this environment.
func (e Environment) getenv(name string) string {
	value, _ := e.LookupEnv(name)
	return value
}
