package arrows

import "strings"

// layers are the module's top folders from the bottom up. A package may import its own folder and the layers
// below; folders that share a layer do not know each other. "" is the module's root package.
var layers = [][]string{
	{"stage"},
	{"shard"},
	{"flow"},
	{"sql"},
	{"engine", "worker"},
	{"api"},
	{"web"},
	{""},
	{"cmd", "examples", "bench", "scripts"},
}

// programs are the folders within a layer that are programs of their own: they stand where cmd does.
var programs = map[string]bool{"web/sandbox": true}

// why says what a pair of folders that share a layer loses when one knows the other.
var why = map[string]string{
	"engine": "engine and worker meet in the database only, so that either runs without the other",
	"worker": "engine and worker meet in the database only, so that either runs without the other",
}

// pure are the packages that take time, randomness and data as arguments, so that seeds and enumeration can test
// them: no database, no network, no files, no clock.
var pure = map[string]bool{
	"stage": true, "shard": true, "flow": true, "engine/wheel": true, "engine/dispatch/board": true,
	"engine/breaker": true, "engine/pressure": true,
}

// impure are the imports that a pure package must not have; one that ends in "/" stands for all below it.
var impure = []string{
	"os", "os/", "net", "net/", "database/", "syscall", "io/ioutil", "golang.org/x/sys/",
	"github.com/jackc/", "github.com/pressly/goose/",
}

// clocks are the names in package time that read or wait for the real clock.
var clocks = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true,
	"NewTimer": true, "NewTicker": true,
}

// seeded are the names in math/rand and math/rand/v2 that draw from a source that the caller passes in; all other
// functions there draw from a hidden one, which no seed can repeat.
var seeded = map[string]bool{
	"New": true, "NewSource": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
	"Rand": true, "Source": true, "Source64": true, "PCG": true, "ChaCha8": true, "Zipf": true,
}

// unrepeatable are the packages and files that must not draw the same numbers twice, with the reason.
var unrepeatable = map[string]string{
	"internal/uuid7":       "two processes must not mint the same ids; a test passes its own source",
	"api/client/events.go": "the default of Watch.Rand: clients must not reconnect in step",
	"sql/hint/bus.go":      "the default of Config.Rand: processes must not reconnect in step",
	"worker/config.go":     "the default of Config.Rand: workers must not retry in step",
}

// vague are package names that say nothing about what is inside, and so collect everything.
var vague = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "type": true, "types": true,
	"model": true, "models": true, "misc": true,
}

// layer is a package's place, by its path inside the module; ok is false for a folder that has no place, such as
// internal, whose packages are judged by what they import.
func layer(path string) (level int, top string, ok bool) {
	top, _, _ = strings.Cut(path, "/")
	if programs[path] {
		top = "cmd"
	}
	for i, folders := range layers {
		for _, f := range folders {
			if f == top {
				return i, top, true
			}
		}
	}
	return 0, top, false
}

func isInternal(path string) bool { return strings.HasPrefix(path, "internal/") }

func matches(path string, list []string) bool {
	for _, p := range list {
		if path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}
