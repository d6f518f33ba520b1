package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serverDir is set in the environment of the child process that is the broker: the
// folder of its file store.
const serverDir = "SLUICE_BENCH_SERVER"

// serve is the child: it prints its address, answers each line with the CPU time it
// has used, and ends with its input.
func serve(dir string) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("the broker does not start")
	}
	fmt.Println(s.ClientURL())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(int64(cpuTime()))
	}
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// broker is the child as the parent sees it.
type broker struct {
	url string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *session) startBroker(name string) (*broker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &broker{cmd: exec.Command(self)}
	b.cmd.Env = append(os.Environ(), serverDir+"="+filepath.Join(s.dir, name))
	b.cmd.Stderr = os.Stderr
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanln(b.out, &b.url); err != nil {
		b.stop()
		return nil, fmt.Errorf("the broker did not tell its address: %w", err)
	}
	return b, nil
}

// cpu is what the broker has used.
func (b *broker) cpu() (d time.Duration, err error) {
	if _, err = fmt.Fprintln(b.in); err == nil {
		_, err = fmt.Fscanln(b.out, &d)
	}
	return d, err
}

func (b *broker) stop() {
	_ = b.in.Close()
	_ = b.cmd.Wait()
}
