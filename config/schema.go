package config

import (
	"reflect"
	"strings"
	"time"
)

const (
	tag = "koanf"
	// delimiter of koanf's paths; a dot would split the names of policies.
	delimiter = "/"
	envPrefix = "COUNTERSIGN_"
	// DefaultFile is read where COUNTERSIGN_CONFIG names no other; it need not exist.
	DefaultFile = "countersign.yaml"
	fileEnv     = envPrefix + "CONFIG"
	addressEnv  = "TEMPORAL_ADDRESS"
)

// Key is one setting.
type Key struct {
	// Path in the file: "telegram.api_url".
	Path string
	// Env are the variables that set it, the documented name first.
	Env []string
	// Default as it would be written in the file; empty for none.
	Default string
	// Secret tells that the value is never shown.
	Secret bool

	index []int
	kind  reflect.Type
}

// koanfPath is the path with koanf's delimiter.
func (k Key) koanfPath() string { return strings.ReplaceAll(k.Path, ".", delimiter) }

// complex values are given in a variable as YAML or JSON.
func (k Key) complex() bool {
	return k.kind.Kind() == reflect.Map || k.kind.Kind() == reflect.Slice && k.kind.Elem().Kind() == reflect.Struct
}

// Keys lists every setting, in the order of the struct.
func Keys() []Key { return keysOf(reflect.TypeFor[Config](), "", nil) }

func keysOf(section reflect.Type, prefix string, index []int) []Key {
	var keys []Key
	for i := range section.NumField() {
		field := section.Field(i)
		name := field.Tag.Get(tag)
		if name == "" || name == "-" {
			continue
		}
		at := append(append([]int(nil), index...), i)
		if field.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(field.Type, prefix+name+".", at)...)
			continue
		}
		keys = append(keys, newKey(field, prefix+name, at))
	}
	return keys
}

func newKey(field reflect.StructField, path string, index []int) Key {
	key := Key{
		Path:    path,
		Default: field.Tag.Get("default"),
		Secret:  field.Type == reflect.TypeFor[Secret](),
		index:   index,
		kind:    field.Type,
	}
	if documented := field.Tag.Get("env"); documented != "" {
		key.Env = append(key.Env, documented)
	}
	key.Env = append(key.Env, envPrefix+strings.ToUpper(strings.ReplaceAll(path, ".", "_")))
	return key
}

// variable is the name by which an operator may set the key, for messages.
func variable(path string) string {
	for _, key := range Keys() {
		if key.Path == path {
			return key.Env[0]
		}
	}
	return ""
}

var durationType = reflect.TypeFor[time.Duration]()
