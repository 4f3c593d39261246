package main

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

const (
	running = 1
	limit   = 10
)

// provider has one group, `pool`, whose machines run at once.
type provider struct {
	mutex    sync.Mutex
	machines []string
	made     int
	// One machine that cannot be deleted.
	stubborn string
	// It is of a time in which templates and times stood in other fields.
	older bool
	// What it lists instead of its machines.
	instances []any
	// What it answers to the options that it is sent, but for what is null, which it leaves out. Without any it has no
	// such call.
	options object
}

func newProvider() *provider { return &provider{} }

func (p *provider) grow(by int) {
	for range by {
		p.made++
		p.machines = append(p.machines, fmt.Sprintf("peer://pool-%d", p.made))
	}
}

// serve answers until it is killed. It prints its address, and then each call that changes something.
func serve(address string, p *provider, files files) error {
	options := []grpc.ServerOption{grpc.ForceServerCodec(codec{}), grpc.UnknownServiceHandler(p.handle)}
	if files.cert != "" {
		config, err := files.config()
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return grpc.NewServer(options...).Serve(listener)
}

func (p *provider) handle(_ any, stream grpc.ServerStream) error {
	path, _ := grpc.MethodFromServerStream(stream)
	name := strings.TrimPrefix(path, service)
	forms, ok := calls[name]
	if !ok {
		return status.Errorf(codes.Unimplemented, "there is no call %s", name)
	}
	var request frame
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	asked, err := decode(forms[0], request)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	told, err := p.answer(name, asked)
	if err != nil {
		return err
	}
	bytes, err := encode(forms[1], told)
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	answer := frame(bytes)
	return stream.SendMsg(&answer)
}

func (p *provider) answer(name string, asked object) (object, error) {
	if id, ok := asked["id"]; ok && id != "pool" {
		return nil, status.Errorf(codes.NotFound, "no node group %v", id)
	}
	size := float64(len(p.machines))
	group := object{"id": "pool", "minSize": 0.0, "maxSize": float64(limit), "debug": "of the test"}
	switch name {
	case "NodeGroups":
		return object{"nodeGroups": []any{group}}, nil
	case "NodeGroupForNode":
		node, _ := asked["node"].(object)
		for _, machine := range p.machines {
			if machine == node["providerID"] {
				return object{"nodeGroup": group}, nil
			}
		}
		return object{"nodeGroup": object{"id": ""}}, nil
	case "NodeGroupTargetSize":
		return object{"targetSize": size}, nil
	case "NodeGroupNodes":
		if p.instances != nil {
			return object{"instances": p.instances}, nil
		}
		instances := []any{}
		for _, machine := range p.machines {
			instances = append(instances, object{"id": machine, "status": object{"instanceState": float64(running)}})
		}
		return object{"instances": instances}, nil
	case "NodeGroupTemplateNodeInfo":
		if p.older {
			return object{"nodeInfo": template()}, nil
		}
		return object{"nodeBytes": template()}, nil
	case "PricingNodePrice":
		start, end := "startTimestamp", "endTimestamp"
		if p.older {
			start, end = "startTime", "endTime"
		}
		from, _ := asked[start].(object)
		to, _ := asked[end].(object)
		if from == nil || to == nil {
			return nil, status.Errorf(codes.InvalidArgument, "no %s", start)
		}
		return object{"price": 0.25 * (to["seconds"].(float64) - from["seconds"].(float64)) / 3600}, nil
	case "NodeGroupIncreaseSize":
		p.tell(name, asked)
		if delta := int(asked["delta"].(float64)); len(p.machines)+delta <= limit {
			p.grow(delta)
			return object{}, nil
		}
		return nil, status.Error(codes.ResourceExhausted, "no machine is left")
	case "NodeGroupDeleteNodes":
		p.tell(name, asked)
		nodes, _ := asked["nodes"].([]any)
		return object{}, p.delete(nodes)
	case "NodeGroupGetOptions":
		if p.options != nil {
			return p.treated(asked)
		}
	case "Refresh":
		return object{}, nil
	}
	return nil, status.Errorf(codes.Unimplemented, "%s is not offered", name)
}

// treated is what it was sent, but for the options of its own.
func (p *provider) treated(asked object) (object, error) {
	options, ok := asked["defaults"].(object)
	if !ok {
		return nil, status.Error(codes.InvalidArgument, "no defaults")
	}
	for name, option := range p.options {
		if options[name] = option; option == nil {
			delete(options, name)
		}
	}
	return object{"nodeGroupAutoscalingOptions": options}, nil
}

// delete goes through the machines one after the other, and stops at the first that it cannot delete.
func (p *provider) delete(nodes []any) error {
	for _, node := range nodes {
		id := node.(object)["providerID"]
		if id == p.stubborn {
			return fmt.Errorf("%v cannot be deleted", id)
		}
		kept := []string{}
		for _, machine := range p.machines {
			if machine != id {
				kept = append(kept, machine)
			}
		}
		if len(kept) == len(p.machines) {
			return fmt.Errorf("%v is no machine of pool", id)
		}
		p.machines = kept
	}
	return nil
}

func (p *provider) tell(name string, asked object) {
	line, _ := json.Marshal(object{"call": name, "asked": asked})
	fmt.Println(string(line))
}

func template() object {
	offers := object{"cpu": "3920m", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"}
	return object{
		"metadata": object{"name": "template", "labels": object{"pool": "web", "kubernetes.io/hostname": "template"}},
		"spec":     object{"taints": []any{object{"key": "dedicated", "value": "web", "effect": "NoSchedule"}}},
		"status": object{
			"capacity":    object{"cpu": "4", "memory": "17Gi", "pods": "110", "nvidia.com/gpu": "1"},
			"allocatable": offers,
		},
	}
}
