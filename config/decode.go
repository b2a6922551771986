package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
)

// decode fills the struct key by key: first the default, so that a value that
// cannot be read leaves it there and causes no second problem.
func (l *loader) decode(merged *koanf.Koanf) {
	for _, key := range Keys() {
		field := reflect.ValueOf(l.config).Elem().FieldByIndex(key.index)
		if key.Default != "" {
			if err := decodeInto(field, key.Default); err != nil {
				panic("config: default of " + key.Path + ": " + err.Error())
			}
		}
		value := merged.Get(key.koanfPath())
		if value == nil {
			continue
		}
		fresh := reflect.New(key.kind).Elem()
		if err := decodeInto(fresh, value); err != nil {
			l.report(key, err)
			continue
		}
		field.Set(fresh)
	}
}

func decodeInto(field reflect.Value, value any) error {
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     field.Addr().Interface(),
		TagName:    tag,
		DecodeHook: mapstructure.DecodeHookFuncType(convert),
		MatchName:  func(key, field string) bool { return key == field },
	})
	if err != nil {
		return fmt.Errorf("making a decoder: %w", err)
	}
	return decoder.Decode(value)
}

// report splits what the decoder joined, and says for each what was expected.
func (l *loader) report(key Key, err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, part := range joined.Unwrap() {
			l.report(key, part)
		}
		return
	}
	at := key.Path
	if named, ok := errors.AsType[*mapstructure.DecodeError](err); ok {
		at += named.Name()
	}
	var expected *expectedError
	var unconvertible *mapstructure.UnconvertibleTypeError
	switch {
	case errors.As(err, &expected):
		l.problems.add(at, "%s", expected)
	case errors.As(err, &unconvertible):
		l.problems.add(at, "is of the wrong kind; write %s", wanted(unconvertible.Expected.Type()))
	default:
		l.problems.add(at, "cannot be read; write %s", wanted(key.kind))
	}
}

// expectedError is a value that is not what its key needs. It shows the value
// only where that is a number, a duration or a switch.
type expectedError struct {
	value any
	want  string
}

func (e *expectedError) Error() string {
	if e.value == nil {
		return "is of the wrong kind; write " + e.want
	}
	return fmt.Sprintf("%q cannot be used; write %s", fmt.Sprint(e.value), e.want)
}

// wanted says in words what a key of this type takes.
func wanted(kind reflect.Type) string {
	switch {
	case kind == durationType:
		return "a time such as 120s or 5m, or a number of seconds"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case kind.Kind() == reflect.Int || kind.Kind() == reflect.Int64:
		return "a whole number"
	case kind.Kind() == reflect.Slice:
		return "a list"
	case kind.Kind() == reflect.Map || kind.Kind() == reflect.Struct || kind.Kind() == reflect.Pointer:
		return "names with their values below it"
	default:
		return "a text (in quotes where it looks like something else)"
	}
}

// convert turns what YAML and the environment give into what a key takes.
func convert(_, to reflect.Type, value any) (any, error) {
	switch {
	case to == durationType:
		return duration(value)
	case to.Kind() == reflect.Bool:
		return boolean(value)
	case to.Kind() == reflect.Int || to.Kind() == reflect.Int64:
		return integer(value)
	case to.Kind() == reflect.String:
		return text(value)
	case to.Kind() == reflect.Slice:
		return list(value), nil
	default:
		return value, nil
	}
}

func duration(value any) (any, error) {
	written := strings.TrimSpace(fmt.Sprint(value))
	if seconds, err := strconv.ParseInt(written, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, nil
	}
	parsed, err := time.ParseDuration(written)
	if err != nil {
		return nil, &expectedError{value, wanted(durationType)}
	}
	return parsed, nil
}

func boolean(value any) (any, error) {
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(value))) {
	case "true", "1", "yes", "on", "(true)": // the last is how Laravel writes it
		return true, nil
	case "false", "0", "no", "off", "(false)":
		return false, nil
	default:
		return nil, &expectedError{value, wanted(reflect.TypeFor[bool]())}
	}
}

func integer(value any) (any, error) {
	written := strings.TrimSpace(fmt.Sprint(value))
	parsed, err := strconv.ParseInt(written, 10, 64)
	if err != nil {
		return nil, &expectedError{value, wanted(reflect.TypeFor[int]())}
	}
	return parsed, nil
}

// text never shows the value in its error: it may be a secret.
func text(value any) (any, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case int, int64, uint64, bool:
		return fmt.Sprint(value), nil
	default:
		return nil, &expectedError{nil, wanted(reflect.TypeFor[string]())}
	}
}

// list splits a text at its commas, and takes a single value for a list of one.
func list(value any) any {
	switch value := value.(type) {
	case string:
		items := []any{}
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items
	case int, int64:
		return []any{value}
	default:
		return value
	}
}
