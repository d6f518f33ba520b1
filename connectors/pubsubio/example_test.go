package pubsubio_test

import (
	"context"
	"fmt"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gosluice/sluice/connectors/pubsubio"
	"github.com/gosluice/sluice/sinks"
)

// The framework makes the calls of Publish; a program makes client and publisher.
func ExamplePublisher() {
	ctx := context.Background()
	server := pstest.NewServer() // a fake; a program reaches the real service
	defer server.Close()
	conn, err := grpc.NewClient(server.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := pubsub.NewClient(ctx, "shop", option.WithGRPCConn(conn))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	p, err := pubsubio.NewPublisher(client, "files", pubsubio.PublisherConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	fmt.Println("there is a topic:", p.Check(ctx) == nil)
	_, err = client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: "projects/shop/topics/files"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("there is a topic:", p.Check(ctx) == nil)

	published, failures := p.Publish(ctx, []sinks.OutMessage{{ID: "files/5f0c/7/0", Data: []byte("west.jsonl")}})
	fmt.Println("published", published[0].ID, "failures", len(failures))
	// Output:
	// there is a topic: false
	// there is a topic: true
	// published files/5f0c/7/0 failures 0
}
