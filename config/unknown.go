package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// unknown reports names in the file that no key has.
func (l *loader) unknown(value any, kind reflect.Type, at string) {
	switch kind.Kind() {
	case reflect.Pointer:
		l.unknown(value, kind.Elem(), at)
	case reflect.Struct:
		if section, ok := value.(map[string]any); ok {
			l.unknownNames(section, kind, at)
		} else {
			l.problems.add(at, "is of the wrong kind; write %s", wanted(kind))
		}
	case reflect.Slice:
		items, _ := value.([]any)
		for i, item := range items {
			if kind.Elem().Kind() == reflect.Struct {
				l.unknown(item, kind.Elem(), fmt.Sprintf("%s[%d]", at, i))
			}
		}
	case reflect.Map:
		entries, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			if kind.Elem().Kind() == reflect.Struct {
				l.unknown(entries[name], kind.Elem(), fmt.Sprintf("%s[%s]", at, name))
			}
		}
	default: // a plain value has no names
	}
}

func (l *loader) unknownNames(section map[string]any, kind reflect.Type, at string) {
	fields := map[string]reflect.Type{}
	for i := range kind.NumField() {
		if name := kind.Field(i).Tag.Get(tag); name != "" && name != "-" {
			fields[name] = kind.Field(i).Type
		}
	}
	for _, name := range slices.Sorted(maps.Keys(section)) {
		path := name
		if at != "" {
			path = at + "." + name
		}
		if field, ok := fields[name]; ok {
			l.unknown(section[name], field, path)
			continue
		}
		known := slices.Sorted(maps.Keys(fields))
		if near, ok := nearest(name, known); ok {
			l.problems.add(path, "is not known; did you mean %s?", near)
		} else {
			l.problems.add(path, "is not known; known here are %v", known)
		}
	}
}
