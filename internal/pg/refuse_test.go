//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package pg_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"axflow/internal/pg"
)

// fails wants an error with every one of the words in it.
func fails(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   pg.Config
		words []string
	}{
		"port too high":    {pg.Config{Port: 65536}, []string{"65536", "0..65535"}},
		"negative port":    {pg.Config{Port: -1}, []string{"-1", "0..65535"}},
		"negative timeout": {pg.Config{StartTimeout: -time.Second}, []string{"-1s", "60s"}},
		"owned setting":    {pg.Config{Settings: map[string]string{"port": "1"}}, []string{`"port"`, "Config.Port"}},
		"odd setting":      {pg.Config{Settings: map[string]string{"a b": "1"}}, []string{`"a b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Dir = filepath.Join(folder(t), "pg")
			_, err := pg.Start(within(t, time.Minute), c.cfg)
			fails(t, err, c.words...)
			if _, err := os.Stat(c.cfg.Dir); !os.IsNotExist(err) {
				t.Errorf("a refused configuration left the folder %s", c.cfg.Dir)
			}
		})
	}
}

func TestUnknownSettingIsNamed(t *testing.T) {
	_, err := pg.Start(within(t, time.Minute), pg.Config{Ephemeral: true, Settings: map[string]string{"no_such_thing": "1"}})
	fails(t, err, "no_such_thing")
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pg.Start(within(t, time.Minute), pg.Config{Ephemeral: true, Port: n})
	fails(t, err, port, "taken")
}

func TestLastPortTakenMeanwhile(t *testing.T) {
	cfg := pg.Seeded(pg.Config{Dir: filepath.Join(folder(t), "pg")})
	first := start(t, cfg)
	port := first.Port()
	stop(t, first)
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if second := start(t, cfg); second.Port() == port {
		t.Errorf("the server says it listens on %d, which another program holds", port)
	}
}

func TestFolderOfAnotherVersion(t *testing.T) {
	dir := filepath.Join(folder(t), "pg")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := pg.Start(within(t, time.Minute), pg.Config{Dir: dir})
	fails(t, err, "belongs to PostgreSQL 99", "install PostgreSQL 99")
}

func TestFolderOfSomethingElse(t *testing.T) {
	dir := folder(t)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(dir, "data", "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := pg.Start(within(t, time.Minute), pg.Config{Dir: dir})
	fails(t, err, "no PostgreSQL data", "choose another folder")
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a refused folder lost a file: %v", err)
	}
}

func TestFileInTheWay(t *testing.T) {
	path := filepath.Join(folder(t), "pg")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := pg.Start(within(t, time.Minute), pg.Config{Dir: path})
	fails(t, err, path, "no folder")
}

func TestBinariesThatAreNone(t *testing.T) {
	t.Setenv(pg.EnvBinaries, folder(t))
	_, err := pg.Start(within(t, time.Minute), pg.Config{Ephemeral: true})
	fails(t, err, pg.EnvBinaries, "postgres")
	if errors.Is(err, pg.ErrNoBinaries) {
		t.Error("a wrong AX_PG_BIN must not lead to a download")
	}
}

// TestOtherUser runs as root only in part: with root it also plays an ordinary user, by another user id.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		s := start(t, pg.Config{Ephemeral: true})
		if dir := ask[string](t, s.URL("postgres"), "SHOW data_directory"); !strings.HasPrefix(dir, s.Dir()) {
			t.Errorf("the data is in %s, outside %s", dir, s.Dir())
		}
		return
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ordinary", func(t *testing.T) {
		p := spawn(t, pg.Config{Ephemeral: true}, uint32(id))
		if p.Fail != "" {
			t.Fatal(p.Fail)
		}
		if p.UID != int(id) {
			t.Fatalf("the child runs as %d, want %d", p.UID, id)
		}
		if n := ask[int](t, p.URL, "SELECT 1"); n != 1 {
			t.Errorf("SELECT 1 gives %d", n)
		}
		p.kill(t)
		until(t, "the folder "+p.Dir+" of a killed process's server is still there", func() bool {
			_, err := os.Stat(p.Dir)
			return os.IsNotExist(err)
		})
	})
	t.Run("folder not writable", func(t *testing.T) {
		p := spawn(t, pg.Config{Dir: filepath.Join(folder(t), "pg")}, uint32(id))
		fails(t, errors.New(p.Fail), "permission", "choose another folder")
	})
	t.Run("folder of another", func(t *testing.T) {
		cfg := pg.Seeded(pg.Config{Dir: filepath.Join(folder(t), "pg")})
		start(t, cfg)
		p := spawn(t, cfg, uint32(id))
		fails(t, errors.New(p.Fail), "permission", "choose another folder")
	})
	t.Run("root as a chosen user", func(t *testing.T) {
		s := start(t, pg.Config{Ephemeral: true, RunAs: "nobody"})
		if n := ask[int](t, s.SocketURL("postgres"), "SELECT 1"); n != 1 {
			t.Errorf("SELECT 1 gives %d", n)
		}
	})
	t.Run("root as root", func(t *testing.T) {
		_, err := pg.Start(within(t, time.Minute), pg.Config{Ephemeral: true, RunAs: "root"})
		fails(t, err, "root", "unprivileged")
	})
	t.Run("root as nobody known", func(t *testing.T) {
		_, err := pg.Start(within(t, time.Minute), pg.Config{Ephemeral: true, RunAs: "no-such-user"})
		fails(t, err, "no-such-user")
	})
	t.Run("root in a closed folder", func(t *testing.T) {
		closed := folder(t)
		if err := os.Chmod(closed, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := pg.Start(within(t, time.Minute), pg.Config{Dir: filepath.Join(closed, "pg")})
		fails(t, err, closed, "closed to user", "choose a data folder elsewhere")
	})
}
