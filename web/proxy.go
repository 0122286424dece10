package web

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// devPolicy is what a page of Vite's needs: scripts and styles in the HTML, for react-refresh, and a websocket that says what changed.
const devPolicy = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; " +
	"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; object-src 'none'"

// proxy has a Vite server answer.
func proxy(vite *url.URL, log *slog.Logger) http.Handler {
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(vite) // and the Host with it: Vite answers to its own name only
			r.Out.Header.Set("Origin", vite.Scheme+"://"+vite.Host)
			r.Out.Header.Del("Cookie") // what signs people in here is not Vite's business
			r.Out.Header.Del("Authorization")
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Debug("Vite does not answer", "url", vite.String(), "error", err)
			http.Error(w, "Vite does not answer at "+vite.String()+": start it in web/ with `npm run dev`", http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", devPolicy)
		// Its websocket stays open.
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Time{})
		_ = c.SetWriteDeadline(time.Time{})
		p.ServeHTTP(w, r)
	})
}
