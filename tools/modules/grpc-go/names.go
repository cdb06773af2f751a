package main

import (
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// A nameserver knows one name, as a headless Service's: it stands for the addresses of all replicas.
type nameserver struct {
	address string
	name    string

	mutex     sync.Mutex
	addresses []net.IP
}

func serveNames(name string) *nameserver {
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	check("a nameserver", err)
	n := &nameserver{address: socket.LocalAddr().String(), name: name + "."}
	go func() {
		buffer := make([]byte, 1500)
		for {
			size, peer, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer := n.answer(buffer[:size]); answer != nil {
				_, _ = socket.WriteTo(answer, peer)
			}
		}
	}()
	return n
}

// From now on the name means these.
func (n *nameserver) tell(addresses ...string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.addresses = nil
	for _, address := range addresses {
		n.addresses = append(n.addresses, net.ParseIP(address).To4())
	}
}

// The addresses of the name; nothing for other kinds of records; for other names, that there is no such one.
func (n *nameserver) answer(question []byte) []byte {
	var message dnsmessage.Message
	if message.Unpack(question) != nil || len(message.Questions) != 1 {
		return nil
	}
	asked := message.Questions[0]
	message.Header = dnsmessage.Header{ID: message.ID, Response: true, Authoritative: true, RecursionDesired: message.RecursionDesired}
	message.Additionals = nil
	if !strings.EqualFold(asked.Name.String(), n.name) {
		message.RCode = dnsmessage.RCodeNameError
	} else if asked.Type == dnsmessage.TypeA {
		n.mutex.Lock()
		for _, address := range n.addresses {
			head := dnsmessage.ResourceHeader{Name: asked.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: 5}
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: [4]byte(address)}})
		}
		n.mutex.Unlock()
	}
	answer, err := message.Pack()
	check("a DNS answer", err)
	return answer
}
