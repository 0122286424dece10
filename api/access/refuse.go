package access

import (
	"html/template"
	"net/http"
)

// page is what a browser shows where a login is refused. Nothing of it comes from outside.
var page = template.Must(template.New("refused").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}} · AX</title></head>
<body><h1>{{.Title}}</h1><p>{{.Text}}</p><p><a href="/auth/login">Log in again</a></p></body>
</html>
`))

// refuse shows the page.
func refuse(w http.ResponseWriter, status int, title, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_ = page.Execute(w, struct{ Title, Text string }{title, text}) // who is gone needs no page
}
