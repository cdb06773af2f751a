// Grpc-go calls the server as Crossplane does: by a name in DNS that stands for all replicas, round robin, over mTLS with
// certificates made as Crossplane makes them. Everything is on loopback, the DNS server too.
//
//	grpc-go [-seconds N] [-streams N] [-grpcurl PROGRAM] SERVER
//
// SERVER is the function's binary. Prints a line for each thing that holds, and ends with 1 at the first that does not.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver/dns"
	"google.golang.org/grpc/status"
)

// The name that Crossplane gives a function's Service.
const host = "function-asya.crossplane-system"

const (
	v1      = "apiextensions.fn.proto.v1.FunctionRunnerService"
	v1beta1 = "apiextensions.fn.proto.v1beta1.FunctionRunnerService"
)

// Crossplane has waited for a connection since 1.19, and failed fast before.
func config(wait bool) string {
	return fmt.Sprintf(`{"loadBalancingConfig":[{"round_robin":{}}],"methodConfig":[{"name":[{}],"waitForReady":%t}]}`, wait)
}

var (
	seconds = flag.Int("seconds", 6, "how long each of the long runs takes")
	streams = flag.Int("streams", 64, "calls at a time in the long runs")
	grpcurl = flag.String("grpcurl", "", "grpcurl, to list, describe and call as a person does")
)

func main() {
	flag.Parse()
	// Names are looked up again when a connection ends, but not within 30 s of the last time. Nobody has time for that here.
	dns.SetMinResolutionInterval(time.Second)
	if flag.NArg() != 1 {
		stop("usage", "grpc-go [-seconds N] [-streams N] [-grpcurl PROGRAM] SERVER")
	}
	folder, err := os.MkdirTemp("", "grpc-go")
	check("a folder for certificates", err)
	cleanUp = append(cleanUp, func() { _ = os.RemoveAll(folder) })
	defer end()

	s := newStage(flag.Arg(0), folder)
	stays := s.quiet()
	s.calls()
	s.health()
	s.reflection()
	s.curl()
	s.refusals()
	s.rotation(true)
	s.rotation(false)
	s.takeover(true)
	s.takeover(false)
	s.upgrade()
	stays()
}

// A stage is what a run needs: who signs, who serves, and by which name they are found.
type stage struct {
	binary, folder string
	ours           authority
	dns            *nameserver
	servers        []*server
	mounted        int
	client         tls.Certificate
}

func newStage(binary, folder string) *stage {
	s := &stage{binary: binary, folder: folder, ours: newAuthority(), dns: serveNames(host)}
	s.mount()
	s.client = pair(s.ours.leaf(x509.ExtKeyUsageClientAuth, tenYears))
	s.servers = []*server{s.start("127.0.0.1:0")}
	_, port := split(s.servers[0].address)
	s.servers = append(s.servers, s.start("127.0.0.2:"+port))
	s.dns.tell("127.0.0.1", "127.0.0.2")
	return s
}

// A new certificate under the server's feet, as the kubelet puts it there.
func (s *stage) mount() {
	certificate, key := s.ours.leaf(x509.ExtKeyUsageServerAuth, tenYears)
	swap(s.folder, s.mounted, map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": s.ours.pem})
	s.mounted++
}

func (s *stage) start(address string) *server {
	// Young connections, so that every run sees some end.
	return startServer(s.binary, "--address", address, "--tls-certs-dir", s.folder,
		"--tls-reload-interval", "200ms", "--max-connection-age", "2s")
}

// The connection of Crossplane's function runner: the name, its certificate, round robin.
func (s *stage) dial(wait bool, more ...grpc.DialOption) *grpc.ClientConn {
	return s.dialAs(s.trust(s.client), wait, more...)
}

func (s *stage) trust(certificates ...tls.Certificate) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool(s.ours), Certificates: certificates}
}

func (s *stage) dialAs(as *tls.Config, wait bool, more ...grpc.DialOption) *grpc.ClientConn {
	_, port := split(s.servers[0].address)
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(as)),
		grpc.WithDefaultServiceConfig(config(wait)),
		// As often as grpc-go lets a client ask; a server that minded would end the connection.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}),
	}, more...)
	connection, err := grpc.NewClient(fmt.Sprintf("dns://%s/%s:%s", s.dns.address, host, port), options...)
	check("a connection", err)
	return connection
}

// Both versions of the service, over both versions of TLS.
func (s *stage) calls() {
	var answers [][]byte
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		as := s.trust(s.client)
		as.MinVersion, as.MaxVersion = version, version
		connection := s.dialAs(as, true)
		for _, service := range []string{v1, v1beta1} {
			answer, err := call(connection, service, 10*time.Second)
			check(tls.VersionName(version)+" "+service, err)
			answers = append(answers, answer)
		}
		closed(connection)
	}
	for _, answer := range answers {
		expect("the same answer", bytes.Equal(answer, answers[0]) && len(answer) > 0)
	}
	good("v1 and v1beta1 over TLS 1.2 and 1.3: the same answer of %d bytes", len(answers[0]))
}

// The whole server and both services, by Check and by Watch.
func (s *stage) health() {
	connection := s.dial(true)
	defer closed(connection)
	client := health.NewHealthClient(connection)
	for _, service := range []string{"", v1, v1beta1} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		request := &health.HealthCheckRequest{Service: service}
		checked, err := client.Check(ctx, request)
		check("health of "+service, err)
		watch, err := client.Watch(ctx, request)
		check("watch of "+service, err)
		watched, err := watch.Recv()
		check("watch of "+service, err)
		serving := health.HealthCheckResponse_SERVING
		expect(service+" serves", checked.Status == serving && watched.Status == serving)
		cancel()
	}
	good("health: the server, v1 and v1beta1 are SERVING, by Check and by Watch")
}

// What a client hears that Crossplane is not; the server answers the next one.
func (s *stage) refusals() {
	other := newAuthority()
	stranger := pair(other.leaf(x509.ExtKeyUsageClientAuth, tenYears))
	expired := pair(s.ours.leaf(x509.ExtKeyUsageClientAuth, -time.Hour))
	wrong := pair(s.ours.leaf(x509.ExtKeyUsageServerAuth, tenYears))
	distrusts := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool(other), Certificates: []tls.Certificate{s.client}}
	rows := []struct {
		who string
		as  credentials.TransportCredentials
	}{
		{"another CA's certificate", credentials.NewTLS(s.trust(stranger))},
		{"an expired certificate", credentials.NewTLS(s.trust(expired))},
		{"a server's certificate", credentials.NewTLS(s.trust(wrong))},
		{"no certificate", credentials.NewTLS(s.trust())},
		{"no trust in ours", credentials.NewTLS(distrusts)},
		{"no TLS", insecure.NewCredentials()},
	}
	for _, row := range rows {
		connection := s.dial(false, grpc.WithTransportCredentials(row.as))
		_, err := call(connection, v1, 10*time.Second)
		closed(connection)
		expect(row.who+" is refused as Unavailable: "+fmt.Sprint(err), status.Code(err) == codes.Unavailable)
		parts := strings.SplitAfter(status.Convert(err).Message(), "desc = ")
		fmt.Printf("   %-26s %s\n", row.who, parts[len(parts)-1])
	}
	connection := s.dial(true)
	defer closed(connection)
	_, err := call(connection, v1, 10*time.Second)
	check("a call after all refusals", err)
	good("%d kinds of wrong clients are refused, and the next call works", len(rows))
}

// Many calls at a time while the certificates change every second.
func (s *stage) rotation(wait bool) {
	reloaded := s.servers[0].said("Certificates reloaded")
	load := s.load(wait)
	rotations := 0
	for range *seconds {
		time.Sleep(time.Second)
		s.mount()
		rotations++
	}
	calls := load.stop("rotation")
	seen := s.servers[0].said("Certificates reloaded") - reloaded
	expect(fmt.Sprintf("%d rotations are seen, of %d", seen, rotations), seen >= rotations/2)
	good("%s, %d streams, %d rotations: %d calls, 0 failed", waits(wait), *streams, rotations, calls)
}

// One of two replicas is told to stop amid the calls. Another takes its place afterwards.
func (s *stage) takeover(wait bool) {
	load := s.load(wait)
	load.more(*streams * 10)
	began := time.Now()
	code := s.servers[1].terminate()
	took := time.Since(began)
	load.more(*streams * 10)
	calls := load.stop("takeover")
	expect(fmt.Sprintf("the exit code is %d", code), code == 0)
	good("%s, %d streams, SIGTERM to one of two: exit code 0 after %s, %d calls, 0 failed", waits(wait), *streams,
		took.Round(time.Millisecond), calls)
	s.servers[1] = s.start(s.servers[1].address)
}

// All replicas are replaced one by one, as a rollout does: the new one is up before the old one is told to stop, and
// its address is told before the old one's is taken back.
func (s *stage) upgrade() {
	load := s.load(true)
	load.more(*streams * 10)
	_, port := split(s.servers[0].address)
	s.dns.tell("127.0.0.1", "127.0.0.2", "127.0.0.3")
	s.servers = append(s.servers, s.start("127.0.0.3:"+port))
	for _, old := range s.servers[:2] {
		expect("the exit code is 0", old.terminate() == 0)
		load.more(*streams * 10)
	}
	s.dns.tell("127.0.0.3")
	load.more(*streams * 10)
	calls := load.stop("upgrade")
	good("%s, %d streams, two replicas replaced by a third: %d calls, 0 failed", waits(true), *streams, calls)
	expect("the exit code is 0", s.servers[2].terminate() == 0)
}

// A connection on which nothing happens but keepalives, to a server with the usual limits. Tells later that it stayed.
func (s *stage) quiet() func() {
	quiet := startServer(s.binary, "--address", "127.0.0.1:0", "--tls-certs-dir", s.folder)
	as := s.trust(s.client)
	as.ServerName = host
	connection, err := grpc.NewClient("passthrough:///"+quiet.address, grpc.WithTransportCredentials(credentials.NewTLS(as)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}))
	check("a quiet connection", err)
	_, err = call(connection, v1, 10*time.Second)
	check("its first call", err)
	expect("it is ready", connection.GetState() == connectivity.Ready)
	began := time.Now()
	return func() {
		// Time for two keepalives at least.
		ctx, cancel := context.WithDeadline(context.Background(), began.Add(25*time.Second))
		defer cancel()
		expect("the quiet connection stays: "+connection.GetState().String(),
			connection.GetState() == connectivity.Ready && !connection.WaitForStateChange(ctx, connectivity.Ready))
		_, err := call(connection, v1, 10*time.Second)
		check("its second call", err)
		closed(connection)
		expect("the exit code is 0", quiet.terminate() == 0)
		good("a quiet connection with a keepalive every 10 s stayed for %s", time.Since(began).Round(time.Second))
	}
}

func waits(wait bool) string {
	if wait {
		return "wait-for-ready"
	}
	return "fail-fast"
}

// A load is calls, many at a time, until they are stopped.
type load struct {
	connection *grpc.ClientConn
	done       chan struct{}
	running    sync.WaitGroup
	calls      atomic.Int64
	failed     atomic.Int64
	first      atomic.Value
}

func (s *stage) load(wait bool) *load {
	l := &load{connection: s.dial(wait), done: make(chan struct{})}
	// A client that fails fast would fail before it has connected for the first time.
	_, err := call(l.connection, v1, 10*time.Second, grpc.WaitForReady(true))
	check("the first call", err)
	for range *streams {
		l.running.Go(func() {
			for {
				select {
				case <-l.done:
					return
				default:
				}
				if _, err := call(l.connection, v1, time.Minute); err != nil {
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, err)
				}
				l.calls.Add(1)
			}
		})
	}
	return l
}

// Waits for so many more calls.
func (l *load) more(calls int) {
	wanted := l.calls.Load() + int64(calls)
	for end := time.Now().Add(time.Minute); l.calls.Load() < wanted; time.Sleep(5 * time.Millisecond) {
		expect("calls are made", time.Now().Before(end))
	}
}

func (l *load) stop(what string) int64 {
	close(l.done)
	l.running.Wait()
	closed(l.connection)
	expect(fmt.Sprintf("%s: %d of %d calls failed, first with: %v", what, l.failed.Load(), l.calls.Load(), l.first.Load()),
		l.failed.Load() == 0)
	return l.calls.Load()
}

// What a person does: list, describe, call.
func (s *stage) curl() {
	if *grpcurl == "" {
		fmt.Println("   grpcurl is left out: -grpcurl names none")
		return
	}
	certificate, key := s.ours.leaf(x509.ExtKeyUsageClientAuth, tenYears)
	files := map[string][]byte{"client.crt": certificate, "client.key": key, "root.crt": s.ours.pem}
	for name, text := range files {
		check(name, os.WriteFile(filepath.Join(s.folder, name), text, 0o600))
	}
	at := func(name string) string { return filepath.Join(s.folder, name) }
	as := []string{"-cacert", at("root.crt"), "-cert", at("client.crt"), "-key", at("client.key"), "-servername", host}
	run := func(behind ...string) string {
		arguments := slices.Concat(as, []string{s.servers[0].address}, behind)
		if strings.Contains(behind[0], "/") {
			arguments = slices.Concat([]string{"-d", actor}, arguments)
		}
		out, err := exec.Command(*grpcurl, arguments...).CombinedOutput()
		check("grpcurl "+strings.Join(behind, " ")+": "+string(out), err)
		return string(out)
	}
	listed := run("list")
	for _, service := range []string{v1, v1beta1, "grpc.health.v1.Health"} {
		expect("grpcurl lists "+service, strings.Contains(listed, service))
	}
	described := run("describe", "apiextensions.fn.proto.v1.RunFunctionRequest")
	expect("grpcurl describes the input as what it is: "+described, strings.Contains(described, ".google.protobuf.Struct input = 4"))
	answered := run(v1 + "/RunFunction")
	expect("grpcurl is answered: "+answered, strings.Contains(answered, `"sqs-queue"`) && strings.Contains(answered, `"SpecAccepted"`))
	good("grpcurl: list, describe and a call by hand")
}

var cleanUp []func()

func end() {
	for _, step := range cleanUp {
		step()
	}
}

func good(what string, values ...any) { fmt.Printf("ok "+what+"\n", values...) }

func expect(what string, holds bool) {
	if !holds {
		stop("it does not hold", what)
	}
}

func check(what string, err error) {
	if err != nil {
		stop(what, err.Error())
	}
}

func stop(what, why string) {
	fmt.Fprintf(os.Stderr, "error: %s: %s\n", what, why)
	end()
	os.Exit(1)
}
