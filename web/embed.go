// Package web is the page: what people look at and steer AX with, in a browser. It holds the build of the TypeScript beside it, so that
// users need no Node, and serves it. The page is a client of the HTTP API like any other.
package web

import "embed"

// build is the page. Texts are there as x.br and x.gz only, everything else as it is.
//
//go:embed all:dist
var build embed.FS
