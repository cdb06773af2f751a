package main

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	reflectv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
)

// A small actor, as Crossplane sends it.
const actor = `{"meta": {"tag": "a-tag"}, "observed": {"composite": {"resource": {
  "apiVersion": "asya.sh/v1alpha1", "kind": "XAsyncActor",
  "metadata": {"name": "hello-x7k2p", "labels": {"crossplane.io/claim-name": "hello", "crossplane.io/claim-namespace": "demo"}},
  "spec": {"actor": "hello", "image": "ghcr.io/demo/hello:1", "handler": "hello.handle"}}}}}`

// Its bytes, once the server has told what a request is.
var request []byte

// Codec passes messages through as they are, so that calls cost the client little.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(value any) ([]byte, error) { return *value.(*[]byte), nil }

func (codec) Unmarshal(data []byte, value any) error {
	*value.(*[]byte) = slices.Clone(data)
	return nil
}

var _ encoding.Codec = codec{}

// One call of RunFunction, and its answer's bytes.
func call(connection *grpc.ClientConn, service string, limit time.Duration, more ...grpc.CallOption) ([]byte, error) {
	if request == nil {
		request = describe(connection)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var answer []byte
	err := connection.Invoke(ctx, "/"+service+"/RunFunction", &request, &answer, append(more, grpc.ForceCodec(codec{}))...)
	return answer, err
}

func closed(connection *grpc.ClientConn) { check("closing", connection.Close()) }

// Makes the request by what reflection says it is, as a program does that has no proto files.
func describe(connection *grpc.ClientConn) []byte {
	message := dynamicpb.NewMessage(find(connection, "apiextensions.fn.proto.v1.RunFunctionRequest"))
	check("the actor", protojson.Unmarshal([]byte(actor), message))
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	check("the actor", err)
	return encoded
}

// The message by its name, from the server's own files and no others.
func find(connection *grpc.ClientConn, name protoreflect.FullName) protoreflect.MessageDescriptor {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stream, err := reflectv1.NewServerReflectionClient(connection).ServerReflectionInfo(ctx, grpc.WaitForReady(true))
	check("reflection", err)
	set := &descriptorpb.FileDescriptorSet{}
	ask := func(question *reflectv1.ServerReflectionRequest) {
		check("reflection", stream.Send(question))
		answer, err := stream.Recv()
		check("reflection", err)
		files := answer.GetFileDescriptorResponse().GetFileDescriptorProto()
		expect("reflection tells a file", len(files) > 0)
		for _, encoded := range files {
			file := &descriptorpb.FileDescriptorProto{}
			check("a file", proto.Unmarshal(encoded, file))
			known := func(other *descriptorpb.FileDescriptorProto) bool { return other.GetName() == file.GetName() }
			if !slices.ContainsFunc(set.File, known) {
				set.File = append(set.File, file)
			}
		}
	}
	ask(&reflectv1.ServerReflectionRequest{MessageRequest: &reflectv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: string(name)}})
	for next := 0; next < len(set.File); next++ {
		for _, name := range set.File[next].Dependency {
			ask(&reflectv1.ServerReflectionRequest{MessageRequest: &reflectv1.ServerReflectionRequest_FileByFilename{FileByFilename: name}})
		}
	}
	files, err := protodesc.NewFiles(set)
	check("the server's files", err)
	found, err := files.FindDescriptorByName(name)
	check("the server's files", err)
	return found.(protoreflect.MessageDescriptor)
}

// Both versions of the protocol list the same services, and answers can be read by what the server says of them.
func (s *stage) reflection() {
	connection := s.dial(true)
	defer closed(connection)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	services, older := list(ctx, connection), listAlpha(ctx, connection)
	expect("v1alpha lists what v1 lists", slices.Equal(services, older))
	for _, service := range []string{v1, v1beta1, "grpc.health.v1.Health"} {
		expect(service+" is listed", slices.Contains(services, service))
	}
	encoded, err := call(connection, v1, 10*time.Second)
	check("a call", err)
	answer := dynamicpb.NewMessage(find(connection, "apiextensions.fn.proto.v1.RunFunctionResponse"))
	check("the answer", proto.UnmarshalOptions{Resolver: &protoregistry.Types{}}.Unmarshal(encoded, answer))
	expect("the answer holds nothing that its description does not", len(answer.GetUnknown()) == 0)
	desired := answer.Get(answer.Descriptor().Fields().ByName("desired")).Message()
	resources := desired.Get(desired.Descriptor().Fields().ByName("resources")).Map()
	expect("the answer desires resources", resources.Len() > 0)
	good("reflection v1 and v1alpha: %d services; a call made of the descriptors is answered with %d resources", len(services), resources.Len())
}

func list(ctx context.Context, connection *grpc.ClientConn) (names []string) {
	stream, err := reflectv1.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
	check("reflection v1", err)
	check("reflection v1", stream.Send(&reflectv1.ServerReflectionRequest{MessageRequest: &reflectv1.ServerReflectionRequest_ListServices{}}))
	answer, err := stream.Recv()
	check("reflection v1", err)
	for _, service := range answer.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	slices.Sort(names)
	return names
}

func listAlpha(ctx context.Context, connection *grpc.ClientConn) (names []string) {
	stream, err := reflectv1alpha.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
	check("reflection v1alpha", err)
	check("reflection v1alpha", stream.Send(&reflectv1alpha.ServerReflectionRequest{MessageRequest: &reflectv1alpha.ServerReflectionRequest_ListServices{}}))
	answer, err := stream.Recv()
	check("reflection v1alpha", err)
	for _, service := range answer.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	slices.Sort(names)
	return names
}
