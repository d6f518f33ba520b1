package files_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/sinks/files"
)

type order struct {
	ID     int    `json:"id"`
	Region string `json:"region"`
}

// The framework makes these calls: Stage in the bundle, then the commit of the
// token, then Publish, until it succeeds.
func Example() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := files.NewWriter(files.Config[order]{Dir: dir, Owner: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	batch := sinks.Batch[order]{
		Destination: "orders/west", Window: window.GlobalWindow, Len: 1,
		All: func(yield func(sinks.Record[order], error) bool) {
			yield(sinks.Record[order]{Value: order{ID: 1, Region: "west"}}, nil)
		},
	}
	staged, err := w.Stage(ctx, batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	id := sinks.EffectID{Store: "5f0c", Transform: "orders-files", Epoch: 7}
	out, err := w.Publish(ctx, id, staged.Token)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Results[0].Name)
	// Output: orders/west-global-e00000007-b000-7b126ece.jsonl
}
