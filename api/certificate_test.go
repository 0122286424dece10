package api

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writePair writes a certificate with a serial number, and its key, dated as given.
func writePair(t *testing.T, dir string, serial int64, at time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: at.Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestCertificatesAreReadAgain(t *testing.T) {
	var log bytes.Buffer
	dir, now := t.TempDir(), time.Now().Truncate(time.Second)
	certFile, keyFile := writePair(t, dir, 1, now)
	c, err := openCertificate(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return x.SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	writePair(t, dir, 2, now.Add(time.Second))
	if n := serial(); n != 1 {
		t.Errorf("certificate %d: the files are looked at again too soon", n)
	}
	c.looked = time.Time{}
	if n := serial(); n != 2 {
		t.Errorf("certificate %d, want the new one", n)
	}
	if err := os.WriteFile(certFile, []byte("half"), 0o600); err != nil { // a renewal in its middle
		t.Fatal(err)
	}
	c.looked = time.Time{}
	if n := serial(); n != 2 || !strings.Contains(log.String(), "the one before is still used") {
		t.Errorf("certificate %d, and the log says %q", n, log.String())
	}
}
