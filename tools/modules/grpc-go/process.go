package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A server is the function as a process, with what its log said.
type server struct {
	process *exec.Cmd
	address string
	ended   chan struct{}

	mutex sync.Mutex
	lines map[string]int
}

// What the log of a server must never say here.
var unwanted = []string{"a bug in function-asya: the call panicked", "a bug in function-asya: the call failed",
	"Certificates changed and cannot be used: kept the old ones", "Stopped with connections open"}

func startServer(binary string, arguments ...string) *server {
	s := &server{lines: map[string]int{}, ended: make(chan struct{})}
	s.process = exec.Command(binary, append([]string{"serve", "--metrics-address", ""}, arguments...)...)
	log, err := s.process.StderrPipe()
	check("a pipe", err)
	check(binary, s.process.Start())
	cleanUp = append(cleanUp, func() { _ = s.process.Process.Kill() })
	serving := make(chan string, 1)
	go s.read(bufio.NewScanner(log), serving)
	select {
	case s.address = <-serving:
	case <-time.After(30 * time.Second):
		stop(binary, "does not serve")
	}
	return s
}

func (s *server) read(log *bufio.Scanner, serving chan<- string) {
	for log.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(log.Bytes(), &line) != nil {
			fmt.Fprintln(os.Stderr, "   the server says:", log.Text())
			continue
		}
		if line.Msg == "Serving" {
			serving <- line.Address
		}
		s.mutex.Lock()
		s.lines[line.Msg]++
		s.mutex.Unlock()
	}
	close(s.ended)
}

// How often the log said so.
func (s *server) said(what string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lines[what]
}

// Asks the server to stop, and tells its exit code.
func (s *server) terminate() int {
	check("SIGTERM", s.process.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		stop("SIGTERM", "the server does not stop within a minute")
	}
	_ = s.process.Wait()
	for _, what := range unwanted {
		expect("the log says: "+what, s.said(what) == 0)
	}
	return s.process.ProcessState.ExitCode()
}

func split(address string) (host, port string) {
	host, port, err := net.SplitHostPort(address)
	check(address, err)
	return host, port
}
