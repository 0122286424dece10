package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// maxPage is the most that one page of the API holds.
const maxPage = 1000

// paging says how much of a list a command wants.
type paging struct {
	limit  int
	cursor string
	all    bool
}

// add adds the flags; def is how many lines there are unless said.
func (p *paging) add(cmd *cobra.Command, def int) {
	f := cmd.Flags()
	f.IntVar(&p.limit, "limit", def, "how many at most")
	f.StringVar(&p.cursor, "cursor", "", "go on after the page that named this")
	f.BoolVar(&p.all, "all", false, "all there are, however many")
}

func (p *paging) check() error {
	if p.limit < 1 {
		return usagef("--limit %d: give at least 1, or --all", p.limit)
	}
	return nil
}

// pages reads as many pages as it takes. It returns the items, the document that holds them all, and where to go on: "" at the end.
func pages[T any](p paging, page func(limit *int, cursor *string) (answer, error)) (items []T, document []byte, next string, err error) {
	var whole map[string]json.RawMessage
	all := []json.RawMessage{}
	for next = p.cursor; ; {
		most := maxPage
		if !p.all {
			most = min(most, p.limit-len(all))
		}
		r, err := page(&most, opt(next))
		if err != nil {
			return nil, nil, "", err
		}
		if err := checkAnswer(r); err != nil {
			return nil, nil, "", err
		}
		var one map[string]json.RawMessage
		var list struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		if err := firstError(json.Unmarshal(r.GetBody(), &one), json.Unmarshal(r.GetBody(), &list)); err != nil {
			return nil, nil, "", fmt.Errorf("reading the server's answer: %w", err)
		}
		if whole == nil {
			whole = one
			if document = r.GetBody(); list.Next == "" { // one page: as it came
				items, err = decoded[T](list.Items)
				return items, document, "", err
			}
		}
		all = append(all, list.Items...)
		next = list.Next
		if next == "" || len(list.Items) == 0 || !p.all && len(all) >= p.limit {
			break
		}
	}
	if whole["items"], err = json.Marshal(all); err != nil {
		return nil, nil, "", fmt.Errorf("joining pages: %w", err)
	}
	delete(whole, "next_cursor")
	if next != "" {
		if whole["next_cursor"], err = json.Marshal(next); err != nil {
			return nil, nil, "", fmt.Errorf("joining pages: %w", err)
		}
	}
	if document, err = json.Marshal(whole); err != nil {
		return nil, nil, "", fmt.Errorf("joining pages: %w", err)
	}
	items, err = decoded[T](all)
	return items, document, next, err
}

func decoded[T any](raw []json.RawMessage) ([]T, error) {
	items := make([]T, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &items[i]); err != nil {
			return nil, fmt.Errorf("reading the server's answer: %w", err)
		}
	}
	return items, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
