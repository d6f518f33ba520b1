package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/connectors/pubsubio"
	pubsubemu "github.com/gosluice/sluice/e2e/emulators/pubsub"
	"github.com/gosluice/sluice/sinks"
)

// target is where notifications go.
type target struct {
	publisher sinks.Publisher
	where     string
	close     func()
}

func openTarget(ctx context.Context, s settings, q *queue) (*target, error) {
	switch {
	case s.notify != "":
		return natsTarget(ctx, s.notify, q)
	case s.pubsub != "":
		return pubsubTarget(ctx, s.pubsub)
	}
	return emulatorTarget(ctx)
}

const (
	emulatorProject = "sluice"
	emulatorTopic   = "projects/" + emulatorProject + "/topics/notifications"
)

// emulatorTarget is a Pub/Sub emulator inside this process.
func emulatorTarget(ctx context.Context) (*target, error) {
	emulator, err := pubsubemu.Open()
	if err != nil {
		return nil, err
	}
	if err := emulator.CreateTopic(ctx, emulatorTopic); err != nil {
		emulator.Shutdown()
		return nil, err
	}
	client, err := emulator.Client(ctx, emulatorProject)
	if err != nil {
		emulator.Shutdown()
		return nil, err
	}
	t, err := topicTarget(ctx, client, emulatorTopic, "in-process Pub/Sub emulator, "+emulatorTopic)
	if err != nil {
		emulator.Shutdown()
		return nil, err
	}
	closeClient := t.close
	t.close = func() { closeClient(); emulator.Shutdown() }
	return t, nil
}

// pubsubTarget is a real Pub/Sub, or the emulator of PUBSUB_EMULATOR_HOST.
func pubsubTarget(ctx context.Context, topic string) (*target, error) {
	parts := strings.Split(topic, "/")
	if len(parts) != 4 || parts[0] != "projects" || parts[2] != "topics" || parts[1] == "" || parts[3] == "" {
		return nil, fmt.Errorf("-pubsub %q is not of the form projects/P/topics/T", topic)
	}
	client, err := pubsub.NewClient(ctx, parts[1])
	if err != nil {
		return nil, fmt.Errorf("connect to Pub/Sub: %w", err)
	}
	where := "Pub/Sub " + topic
	if host := os.Getenv("PUBSUB_EMULATOR_HOST"); host != "" {
		where = "Pub/Sub emulator " + host + ", " + topic
	}
	return topicTarget(ctx, client, topic, where)
}

func topicTarget(ctx context.Context, client *pubsub.Client, topic, where string) (*target, error) {
	p, err := pubsubio.NewPublisher(client, topic, pubsubio.PublisherConfig{})
	if err == nil {
		err = p.Check(ctx)
	}
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	return &target{publisher: p, where: where, close: func() {
		p.Close()
		_ = client.Close()
	}}, nil
}

// natsTarget is a subject on the queue's server, in a stream that drops repeated
// messages.
func natsTarget(ctx context.Context, notify string, q *queue) (*target, error) {
	subject, ok := strings.CutPrefix(notify, "nats:")
	if !ok || subject == "" {
		return nil, fmt.Errorf("-notify %q is not of the form nats:SUBJECT", notify)
	}
	_, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "NOTIFICATIONS", Subjects: []string{subject}, Storage: jetstream.FileStorage, Duplicates: duplicateWindow,
	})
	if err != nil {
		return nil, fmt.Errorf("make stream NOTIFICATIONS for subject %s: %w", subject, err)
	}
	p := natsio.NewPublisher(q.js, natsio.PublisherConfig{Subject: subject})
	return &target{publisher: p, where: "NATS subject " + subject + " on " + q.where, close: func() {}}, nil
}

// duplicateWindow is how long the stream remembers the ids of notifications.
const duplicateWindow = 10 * time.Minute
