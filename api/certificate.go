package api

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a certificate and its key in files, which are read again when they have changed, so that renewing one needs no restart.
type certificate struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamp   [2]time.Time // when the files were changed
	looked  time.Time
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = 5 * time.Second

func openCertificate(certFile, keyFile string, logger *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, logger: logger}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificate) read() error {
	stamp, err := c.stamps()
	if err != nil {
		return err
	}
	if c.current != nil && stamp == c.stamp {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("reading the certificate: %w", err)
	}
	c.current, c.stamp = &pair, stamp
	return nil
}

func (c *certificate) stamps() (at [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return at, fmt.Errorf("reading the certificate: %w", err)
		}
		at[i] = info.ModTime()
	}
	return at, nil
}

// get is tls.Config's GetCertificate. What cannot be read leaves the one before in place: half a renewal must not end the service.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		if err := c.read(); err != nil {
			c.logger.Warn("the certificate was not read again; the one before is still used", "error", err)
		}
	}
	return c.current, nil
}
