package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// envConfig names the file of the profiles.
const envConfig = "AX_CONFIG"

// windows has no file modes that say anything.
const windows = runtime.GOOS == "windows"

// maxProfiles is the most that the file of profiles may have, in bytes.
const maxProfiles = 1 << 20

// profile is a place with a name: a server with the credential for it, or a database.
type profile struct {
	URL         string `json:"url,omitempty"`
	Token       string `json:"token,omitempty"`
	TokenFile   string `json:"token_file,omitempty"`
	DatabaseURL string `json:"database_url,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
}

// profiles is the file. Use is the one that counts when nothing else names a place.
type profiles struct {
	Use      string             `json:"use,omitempty"`
	Profiles map[string]profile `json:"profiles"`
}

// names are the profiles' names, sorted.
func (p *profiles) names() []string {
	names := make([]string, 0, len(p.Profiles))
	for name := range p.Profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// profilesPath is where the file is: what AX_CONFIG names, else in the user's folder for configuration.
func (a *app) profilesPath() (string, error) {
	if path := a.Getenv(envConfig); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for profiles: %w; set %s to a file", err, envConfig)
	}
	return filepath.Join(dir, "ax", "profiles.json"), nil
}

// profiles reads the file; one that is not there holds none.
func (a *app) profiles() (*profiles, error) {
	all := &profiles{Profiles: map[string]profile{}}
	path, err := a.profilesPath()
	if err != nil {
		return all, nil //nolint:nilerr // no folder, no profiles
	}
	raw, err := readPrivate(path, maxProfiles)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, usagef("reading the profiles: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(all); err != nil {
		return nil, usagef("reading the profiles: %s: %w", path, err)
	}
	if all.Profiles == nil {
		all.Profiles = map[string]profile{}
	}
	return all, nil
}

// save replaces the file, which only its owner may read. It is written beside it first, so that a process that dies leaves the old one.
func (a *app) save(all *profiles) error {
	path, err := a.profilesPath()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	f, err := os.CreateTemp(dir, ".profiles-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("saving the profiles: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("saving the profiles: %w", err)
	}
	return nil
}
