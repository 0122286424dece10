// Package gen is what oapi-codegen makes of api/openapi.yaml: the API's types, the interface that the server
// implements, and a client. Everything in it but this file is generated; `make generate` writes it anew.
package gen

//go:generate ../../scripts/generate-api
