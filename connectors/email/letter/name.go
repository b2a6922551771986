package letter

import (
	"net/http"
	"strings"
	"unicode"
)

// extensions of files without a name, by media type. What is not here gets none
// or, if it declares no type of its own, one by its first bytes.
var extensions = map[string]string{
	"message/rfc822": ".eml", "message/global": ".eml", "application/ms-tnef": ".dat",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/json": ".json", "application/gzip": ".gz",
	"application/rtf": ".rtf", "application/xml": ".xml", "application/msword": ".doc",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
	"application/vnd.ms-excel": ".xls", "application/vnd.oasis.opendocument.text": ".odt",
	"application/pgp-signature": ".asc", "application/pgp-encrypted": ".asc", "application/pkcs7-signature": ".p7s",
	"application/x-pkcs7-signature": ".p7s", "application/pkcs7-mime": ".p7m", "application/x-pkcs7-mime": ".p7m",
	"image/png": ".png", "image/jpeg": ".jpg", "image/jpg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"image/bmp": ".bmp", "image/tiff": ".tiff", "image/svg+xml": ".svg", "image/heic": ".heic",
	"audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav", "audio/wave": ".wav", "audio/mp4": ".m4a", "audio/x-m4a": ".m4a",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov",
	"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/calendar": ".ics", "text/vcard": ".vcf",
	"text/x-vcard": ".vcf", "text/markdown": ".md", "text/xml": ".xml", "text/rtf": ".rtf", "text/x-amp-html": ".html",
	"message/delivery-status": ".txt", "message/disposition-notification": ".txt", "text/rfc822-headers": ".txt",
}

// givenName is what the sender calls a file: its last path element, without what
// is not seen. Empty if there is none.
func givenName(disposition, contentType *parameters) string {
	for _, name := range []string{disposition.text("filename"), contentType.text("name")} {
		if name = lastElement(name); name != "" {
			return name
		}
	}
	return ""
}

// lastElement: a path is the sender's folders, not ours (RFC 2183 §2.3).
func lastElement(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if cut := strings.LastIndexAny(name, `/\`); cut >= 0 {
		name = name[cut+1:]
	}
	name = strings.TrimSpace(name)
	if strings.Trim(name, ". ") == "" {
		return ""
	}
	return name
}

// nameFor is what a file without a name is called; head are its first bytes.
func nameFor(mediaType string, head []byte) string {
	if mediaType == "application/ms-tnef" {
		return "winmail.dat"
	}
	ext, known := extensions[mediaType]
	if !known {
		sniffed, _, _ := strings.Cut(http.DetectContentType(head), ";")
		if ext = extensions[sniffed]; ext == ".txt" || len(head) == 0 {
			ext = ""
		}
	}
	return "attachment" + ext
}
