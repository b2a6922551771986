package filemanager

import (
	"encoding/json"
	"slices"
)

// property is one parameter in a JSON Schema.
type property = map[string]any

var (
	diskProperty = property{
		"type": "string", "minLength": 1, "maxLength": 100,
		"description": "Name of the disk.",
	}
	folderProperty = property{
		"type": "string", "maxLength": 1024,
		"description": "Folder on the disk; empty or / is the root.",
	}
	pathProperty = property{
		"type": "string", "minLength": 1, "maxLength": 1024,
		"description": "Path on the disk, from its root.",
	}
	pathsProperty = property{
		"type": "array", "minItems": 1, "maxItems": 100, "items": pathProperty,
		"description": "Several paths on the disk, instead of path.",
	}
	destinationProperty = property{
		"type": "string", "minLength": 1, "maxLength": 1024,
		"description": "New path, or a folder to put it in; a taken name gets a number.",
	}
	contentProperty = property{
		"type": "string", "maxLength": 1_000_000,
		"description": "Text of the file.",
	}
	sourceProperty = property{
		"type": "string", "minLength": 1, "maxLength": 1024,
		"description": "The attachment: its path as it was told (inbound/…), or its file name alone for the newest of that name.",
	}
	urlProperty = property{
		"type": "string", "minLength": 1, "maxLength": 4096,
		"description": "Public http or https address of the file.",
	}
)

// schema declares an operation's parameters, all of them required.
func schema(properties map[string]property) string {
	return encode(property{"type": "object", "properties": properties, "required": sortedNames(properties), "additionalProperties": false})
}

// deleteSchema wants exactly one of path and paths.
func deleteSchema() string {
	return encode(property{
		"type":                 "object",
		"properties":           map[string]property{"disk": diskProperty, "path": pathProperty, "paths": pathsProperty},
		"required":             []string{"disk"},
		"additionalProperties": false,
		"oneOf":                []property{{"required": []string{"path"}}, {"required": []string{"paths"}}},
	})
}

func sortedNames(properties map[string]property) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		// Only strings, numbers, lists and maps are in it.
		panic(err)
	}
	return string(text)
}
