package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"
)

// file is one file of the build, in the encodings that it is stored in.
type file struct {
	contentType string
	br, gz      []byte // nil: it is not stored so
	etag        string // of what it holds, without quotes; each encoding adds its name

	plain func() ([]byte, error) // what it holds, as it is
}

// types are the content types of what a build has, whatever the machine's tables say.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".json": "application/json", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
	".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".wasm": "application/wasm",
}

// readFiles reads a build, by path.
func readFiles(build fs.FS) (map[string]*file, error) {
	files := make(map[string]*file)
	at := func(name string) *file {
		if files[name] == nil {
			files[name] = &file{contentType: typeOf(name)}
		}
		return files[name]
	}
	err := fs.WalkDir(build, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(build, name)
		if err != nil {
			return err
		}
		switch base := strings.TrimSuffix(name, path.Ext(name)); path.Ext(name) {
		case ".br":
			at(base).br = b
		case ".gz":
			f := at(base)
			f.gz = b
			f.plain = sync.OnceValues(func() ([]byte, error) { return unzip(b) })
		default:
			at(name).plain = func() ([]byte, error) { return b, nil }
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the page's build: %w", err)
	}
	for name, f := range files {
		if f.plain == nil {
			return nil, fmt.Errorf("the page's build has %s.br alone: a client that does not take it needs %s.gz or %s", name, name, name)
		}
		stored := f.gz
		if stored == nil {
			if stored, err = f.plain(); err != nil {
				return nil, err
			}
		}
		sum := sha256.Sum256(stored)
		f.etag = hex.EncodeToString(sum[:10])
	}
	return files, nil
}

func typeOf(name string) string {
	ext := path.Ext(name)
	if t := types[ext]; t != "" {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("unpacking a file of the page: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking a file of the page: %w", err)
	}
	return text, nil
}

// encoded is the file in an encoding that a client takes, and the encoding's name; "" is none.
func (f *file) encoded(accept string) (b []byte, encoding string, err error) {
	takes := taken(accept)
	switch {
	case f.br != nil && takes("br"):
		return f.br, "br", nil
	case f.gz != nil && takes("gzip"):
		return f.gz, "gzip", nil
	default:
		b, err = f.plain()
		return b, "", err
	}
}
