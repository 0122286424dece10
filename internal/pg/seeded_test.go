//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg

// Seeded makes a lasting server's data folder from the ephemeral servers' seed.
func Seeded(cfg Config) Config {
	cfg.seeded = true
	return cfg
}
