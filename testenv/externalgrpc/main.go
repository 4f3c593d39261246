// Command externalgrpc-peer is the other side of Cluster Autoscaler's external gRPC protocol: a client that makes one
// call, or a provider in memory. It knows nothing of Headroom: it goes by Go's gRPC, by Kubernetes' own protobuf of
// nodes, and by the numbers of the protocol's fields (wire.go).
//
//	externalgrpc-peer call ADDRESS CALL JSON [-cert F -key F -cacert F]
//	externalgrpc-peer serve ADDRESS [-size N] [-stubborn ID] [-older] [-options JSON] [-instances JSON] [-cert F -key F -cacert F]
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const service = "/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/"

// frame is a message that is encoded already.
type frame []byte

type codec struct{}

func (codec) Marshal(v any) ([]byte, error) { return *v.(*frame), nil }
func (codec) Unmarshal(data []byte, v any) error {
	*v.(*frame) = append(frame(nil), data...)
	return nil
}
func (codec) Name() string { return "proto" }

type files struct{ cert, key, cacert string }

func (f *files) flags(set *flag.FlagSet) {
	set.StringVar(&f.cert, "cert", "", "")
	set.StringVar(&f.key, "key", "", "")
	set.StringVar(&f.cacert, "cacert", "", "")
}

// config is that of a side which shows a certificate and wants one of the other side.
func (f *files) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(f.cacert)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", f.cacert)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}, nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var tls files
	set := flag.NewFlagSet("", flag.ContinueOnError)
	tls.flags(set)
	switch {
	case len(args) >= 4 && args[0] == "call":
		if err := set.Parse(args[4:]); err != nil {
			return err
		}
		return call(args[1], args[2], args[3], tls)
	case len(args) >= 2 && args[0] == "serve":
		provider := newProvider()
		size := set.Int("size", 0, "")
		set.StringVar(&provider.stubborn, "stubborn", "", "")
		set.BoolVar(&provider.older, "older", false, "")
		set.Func("options", "", func(text string) error { return json.Unmarshal([]byte(text), &provider.options) })
		set.Func("instances", "", func(text string) error { return json.Unmarshal([]byte(text), &provider.instances) })
		if err := set.Parse(args[2:]); err != nil {
			return err
		}
		provider.grow(*size)
		return serve(args[1], provider, tls)
	}
	return fmt.Errorf("write `call ADDRESS CALL JSON` or `serve ADDRESS`")
}

// call makes one call and prints its answer.
func call(address, name, text string, files files) error {
	transport := insecure.NewCredentials()
	if files.cert != "" {
		config, err := files.config()
		if err != nil {
			return err
		}
		transport = credentials.NewTLS(config)
	}
	forms, ok := calls[name]
	if !ok {
		return fmt.Errorf("there is no call %s", name)
	}
	var value object
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	bytes, err := encode(forms[0], value)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, answer := frame(bytes), frame(nil)
	if err := connection.Invoke(ctx, service+name, &request, &answer, grpc.ForceCodec(codec{})); err != nil {
		return fmt.Errorf("%s: %s", status.Code(err), status.Convert(err).Message())
	}
	told, err := decode(forms[1], answer)
	if err != nil {
		return err
	}
	out, err := json.Marshal(told)
	if err != nil {
		return err
	}
	fmt.Println(string(out))
	return nil
}
