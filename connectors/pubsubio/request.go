package pubsubio

import (
	"context"
	"errors"
	"fmt"
	"strings"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	gax "github.com/googleapis/gax-go/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/gosluice/sluice/core/fault"
)

// once keeps the client from retrying by itself.
var once = gax.WithRetry(func() gax.Retryer { return nil })

// request sends items in one request and notes the IDs the server gave them.
func (p *Publisher) request(ctx context.Context, items []*item) error {
	msgs := make([]*pb.PubsubMessage, len(items))
	for i, it := range items {
		msgs[i] = it.msg
	}
	reqCtx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	var to peer.Peer // set once the request had a connection to go out on
	res, err := p.client.TopicAdminClient.Publish(reqCtx, &pb.PublishRequest{Topic: p.topic, Messages: msgs},
		once, gax.WithGRPCOptions(grpc.Peer(&to), grpc.MaxCallSendMsgSize(2*requestBytesMax)))
	switch {
	case err != nil:
		return p.requestError(ctx, err, to.Addr != nil)
	case len(res.MessageIds) != len(items):
		return fault.Errorf(fault.Ambiguous, "pubsub: publish %s: %d messages were confirmed of %d", p.topic, len(res.MessageIds), len(items))
	}
	for i, it := range items {
		it.confirmed, it.messageID = true, res.MessageIds[i]
	}
	return nil
}

// requestError gives a failed request its class. One that never had a connection
// was not sent, whatever the code says.
func (p *Publisher) requestError(ctx context.Context, err error, sent bool) error {
	class := classOf(status.Code(err))
	switch {
	case !sent && errors.Is(ctx.Err(), context.Canceled):
		class = fault.Closed
	case !sent:
		class = fault.Transient
	}
	return fault.Errorf(class, "pubsub: publish %s: %s%w", p.topic, p.remedy(status.Code(err)), err)
}

// classOf is the class of a request that may have reached the server.
func classOf(c codes.Code) fault.Class {
	switch c {
	case codes.InvalidArgument, codes.OutOfRange:
		return fault.Permanent
	case codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition,
		codes.ResourceExhausted, codes.Aborted, codes.Unimplemented:
		return fault.Transient // refused: nothing happened
	}
	return fault.Ambiguous
}

// remedy is what an operator can do about a code, to stand before the error.
func (p *Publisher) remedy(c codes.Code) string {
	part := strings.Split(p.topic, "/")
	switch c {
	case codes.NotFound:
		return fmt.Sprintf("the topic does not exist: create it (gcloud pubsub topics create %s --project %s) or correct its name: ", part[3], part[1])
	case codes.PermissionDenied:
		return "no permission: grant roles/pubsub.publisher on the topic: "
	case codes.Unauthenticated:
		return "no valid credentials: check those of the client: "
	case codes.ResourceExhausted:
		return "a quota or a size limit of the server is reached: "
	}
	return ""
}

// Check asks for the topic, to be called before anything is read: a topic that
// does not exist is a Permanent error that names it and the remedy; another error
// is Transient. A publisher that may publish but not look at the topic
// (roles/pubsub.publisher) passes.
func (p *Publisher) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	_, err := p.client.TopicAdminClient.GetTopic(ctx, &pb.GetTopicRequest{Topic: p.topic}, once)
	class := fault.Transient
	switch status.Code(err) {
	case codes.OK, codes.PermissionDenied:
		return nil
	case codes.NotFound, codes.InvalidArgument:
		class = fault.Permanent
	case codes.Canceled:
		class = fault.Closed
	}
	return fault.Errorf(class, "pubsub: look at %s: %s%w", p.topic, p.remedy(status.Code(err)), err)
}
