package flow_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"axflow/flow"
	"axflow/stage"
)

type account struct {
	Name string `json:"name"`
	Pin  int    `json:"pin" jsonschema_extras:"writeOnly=true"`
}

type secretive struct {
	Token    string             `json:"token" jsonschema:"title=Token,writeOnly=true"`
	Codes    []string           `json:"codes" jsonschema:"writeOnly=true"`
	Raw      []byte             `json:"raw" jsonschema:"writeOnly=true"`
	Since    time.Time          `json:"since" jsonschema:"writeOnly=true"`
	Accounts map[string]account `json:"accounts"`
}

type carelessPin struct {
	Pins []struct {
		Pin int `json:"pin" jsonschema:"writeOnly=true"`
	} `json:"pins"`
}

type carelessLists struct {
	Codes [][]string `json:"codes" jsonschema:"writeOnly=true"`
}

func handled[P any](context.Context, P) (int, error) { return 0, nil }

func TestASecretThatTheSchemaWouldNotHoldIsRefused(t *testing.T) {
	good, err := flow.Build("good", stage.New("s", handled[secretive]))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(good.Graph().ParamsSchema), `"writeOnly":true`); n != 5 {
		t.Errorf("%d secrets in %s, want 5", n, good.Graph().ParamsSchema)
	}
	for _, err := range []error{buildErr[carelessPin](), buildErr[carelessLists]()} {
		if err == nil || !strings.Contains(err.Error(), "jsonschema_extras") {
			t.Errorf("error %v, want one that names jsonschema_extras", err)
		}
	}
}

func buildErr[P any]() error {
	_, err := flow.Build("bad", stage.New("s", handled[P]))
	return err
}

func TestLateIsPartOfTheContentAndOfNoContract(t *testing.T) {
	build := func() *flow.Flow[params] { return flow.New("daily", single("pull")) }
	never, hour := build(), build().With(flow.Late(time.Hour))
	if never.Version() == hour.Version() {
		t.Error("a flow that may be late has the version of one that may not")
	}
	if never.Graph().Stages[0].Contract != hour.Graph().Stages[0].Contract {
		t.Error("Late has changed a stage's contract")
	}
	back, err := flow.ParseGraph(hour.Graph().Encode())
	if err != nil || back.Late != time.Hour || back.Version() != hour.Version() {
		t.Errorf("read back: %v late after %v, %v", back.Version(), back.Late, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative Late was let through")
		}
	}()
	build().With(flow.Late(-time.Second))
}
