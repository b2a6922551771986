package filemanager

import "github.com/countersignhq/countersign/tool"

// translations are the questions in other languages, by operation.
var translations = map[string]map[string]tool.Translation{
	"list": prompts(
		"Den Ordner {path} auf dem Laufwerk {disk} auflisten?",
		"¿Listar la carpeta {path} del disco {disk}?",
		"要列出磁盘 {disk} 上的文件夹 {path} 吗？"),
	"read": prompts(
		"Die Datei {path} auf dem Laufwerk {disk} lesen?",
		"¿Leer el archivo {path} del disco {disk}?",
		"要读取磁盘 {disk} 上的文件 {path} 吗？"),
	"exists": prompts(
		"Nachsehen, ob es {path} auf dem Laufwerk {disk} gibt?",
		"¿Mirar si existe {path} en el disco {disk}?",
		"要查看磁盘 {disk} 上是否有 {path} 吗？"),
	"write": prompts(
		"Die Datei {path} auf dem Laufwerk {disk} schreiben?",
		"¿Escribir el archivo {path} en el disco {disk}?",
		"要写入磁盘 {disk} 上的文件 {path} 吗？"),
	"append": prompts(
		"Etwas an die Datei {path} auf dem Laufwerk {disk} anfügen?",
		"¿Añadir algo al archivo {path} en el disco {disk}?",
		"要向磁盘 {disk} 上的文件 {path} 追加内容吗？"),
	"mkdir": prompts(
		"Den Ordner {path} auf dem Laufwerk {disk} anlegen?",
		"¿Crear la carpeta {path} en el disco {disk}?",
		"要在磁盘 {disk} 上创建文件夹 {path} 吗？"),
	"move": prompts(
		"{path} auf dem Laufwerk {disk} nach {destination} verschieben?",
		"¿Mover {path} a {destination} en el disco {disk}?",
		"要将磁盘 {disk} 上的 {path} 移动到 {destination} 吗？"),
	"copy": prompts(
		"{path} auf dem Laufwerk {disk} nach {destination} kopieren?",
		"¿Copiar {path} a {destination} en el disco {disk}?",
		"要将磁盘 {disk} 上的 {path} 复制到 {destination} 吗？"),
	"delete": variants("paths", prompts(
		"Die Datei {path} auf dem Laufwerk {disk} löschen?",
		"¿Eliminar el archivo {path} del disco {disk}?",
		"要删除磁盘 {disk} 上的文件 {path} 吗？"), prompts(
		"{count} Dateien auf dem Laufwerk {disk} löschen: {paths}?",
		"¿Eliminar {count} archivos del disco {disk}: {paths}?",
		"要删除磁盘 {disk} 上的 {count} 个文件吗：{paths}？")),
	"save_attachment": prompts(
		"Den Anhang {source} unter {path} auf dem Laufwerk {disk} speichern?",
		"¿Guardar el adjunto {source} como {path} en el disco {disk}?",
		"要将附件 {source} 保存到磁盘 {disk} 上的 {path} 吗？"),
	"attach_to_reply": prompts(
		"Die Datei {path} auf dem Laufwerk {disk} an die Antwort anhängen?",
		"¿Adjuntar a la respuesta el archivo {path} del disco {disk}?",
		"要将磁盘 {disk} 上的文件 {path} 附加到回复中吗？"),
	"download_url": prompts(
		"{url} nach {path} auf dem Laufwerk {disk} herunterladen?",
		"¿Descargar {url} a {path} en el disco {disk}?",
		"要将 {url} 下载到磁盘 {disk} 上的 {path} 吗？"),
}

func prompts(de, es, zh string) map[string]tool.Translation {
	return map[string]tool.Translation{"de": {Prompt: de}, "es": {Prompt: es}, "zh-CN": {Prompt: zh}}
}

// variants adds the questions about calls that have a parameter.
func variants(when string, usual, then map[string]tool.Translation) map[string]tool.Translation {
	for language, t := range usual {
		t.Prompts = map[string]string{when: then[language].Prompt}
		usual[language] = t
	}
	return usual
}

// translated gives each operation its translations.
func translated(operations []tool.Operation) []tool.Operation {
	for n := range operations {
		operations[n].Translations = translations[operations[n].Name]
	}
	return operations
}
