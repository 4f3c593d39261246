package main

import (
	"encoding/json"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
)

// The protocol by the numbers of its fields, written down here once more so that a wrong number in Headroom's own
// description is found.

type kind int

const (
	text kind = iota
	number
	double
	truth
	node   // bytes of a core/v1 Node
	pod    // bytes of a core/v1 Pod
	labels // map<string, string>
	inner
)

type field struct {
	number   protowire.Number
	name     string
	kind     kind
	of       string // the message, of inner
	repeated bool
}

var messages = map[string][]field{
	"Empty":     {},
	"Id":        {{number: 1, name: "id"}},
	"Time":      {{number: 1, name: "seconds", kind: number}, {number: 2, name: "nanos", kind: number}},
	"NodeGroup": {{number: 1, name: "id"}, {number: 2, name: "minSize", kind: number}, {number: 3, name: "maxSize", kind: number}, {number: 4, name: "debug"}},
	"Node":      {{number: 1, name: "providerID"}, {number: 2, name: "name"}, {number: 3, name: "labels", kind: labels}, {number: 4, name: "annotations", kind: labels}},

	"NodeGroups":   {{number: 1, name: "nodeGroups", kind: inner, of: "NodeGroup", repeated: true}},
	"OfNode":       {{number: 1, name: "node", kind: inner, of: "Node"}},
	"NodeGroupFor": {{number: 1, name: "nodeGroup", kind: inner, of: "NodeGroup"}},
	"PriceOfNode": {
		{number: 1, name: "node", kind: inner, of: "Node"},
		{number: 2, name: "startTime", kind: inner, of: "Time"}, {number: 3, name: "endTime", kind: inner, of: "Time"},
		{number: 4, name: "startTimestamp", kind: inner, of: "Time"}, {number: 5, name: "endTimestamp", kind: inner, of: "Time"},
	},
	"PriceOfPod": {
		{number: 1, name: "pod", kind: pod}, {number: 4, name: "pod_bytes", kind: pod},
		{number: 2, name: "startTime", kind: inner, of: "Time"}, {number: 3, name: "endTime", kind: inner, of: "Time"},
		{number: 5, name: "startTimestamp", kind: inner, of: "Time"}, {number: 6, name: "endTimestamp", kind: inner, of: "Time"},
	},
	"Price":     {{number: 1, name: "price", kind: double}},
	"GPULabel":  {{number: 1, name: "label"}},
	"Size":      {{number: 1, name: "targetSize", kind: number}},
	"Delta":     {{number: 1, name: "delta", kind: number}, {number: 2, name: "id"}},
	"Delete":    {{number: 1, name: "nodes", kind: inner, of: "Node", repeated: true}, {number: 2, name: "id"}},
	"Instances": {{number: 1, name: "instances", kind: inner, of: "Instance", repeated: true}},
	"Instance":  {{number: 1, name: "id"}, {number: 2, name: "status", kind: inner, of: "Status"}},
	"Status":    {{number: 1, name: "instanceState", kind: number}, {number: 2, name: "errorInfo", kind: inner, of: "Error"}},
	"Error":     {{number: 1, name: "errorCode"}, {number: 2, name: "errorMessage"}, {number: 3, name: "instanceErrorClass", kind: number}},
	"Template":  {{number: 1, name: "nodeInfo", kind: node}, {number: 2, name: "nodeBytes", kind: node}},
	"OptionsOf": {{number: 1, name: "id"}, {number: 2, name: "defaults", kind: inner, of: "Options"}},
	"Answer":    {{number: 1, name: "nodeGroupAutoscalingOptions", kind: inner, of: "Options"}},
	"Options": {
		{number: 1, name: "scaleDownUtilizationThreshold", kind: double}, {number: 2, name: "scaleDownGpuUtilizationThreshold", kind: double},
		{number: 6, name: "zeroOrMaxNodeScaling", kind: truth}, {number: 7, name: "ignoreDaemonSetsUtilization", kind: truth},
		{number: 8, name: "scaleDownUnneededDuration", kind: inner, of: "Time"}, {number: 9, name: "scaleDownUnreadyDuration", kind: inner, of: "Time"},
		{number: 10, name: "MaxNodeProvisionDuration", kind: inner, of: "Time"}, {number: 11, name: "maxNodeStartupDuration", kind: inner, of: "Time"},
		{number: 12, name: "allowNonAtomicScaleUpToMax", kind: truth},
	},
}

// What each call takes and answers.
var calls = map[string][2]string{
	"NodeGroups":                  {"Empty", "NodeGroups"},
	"NodeGroupForNode":            {"OfNode", "NodeGroupFor"},
	"PricingNodePrice":            {"PriceOfNode", "Price"},
	"PricingPodPrice":             {"PriceOfPod", "Price"},
	"GPULabel":                    {"Empty", "GPULabel"},
	"GetAvailableGPUTypes":        {"Empty", "Empty"},
	"Cleanup":                     {"Empty", "Empty"},
	"Refresh":                     {"Empty", "Empty"},
	"NodeGroupTargetSize":         {"Id", "Size"},
	"NodeGroupIncreaseSize":       {"Delta", "Empty"},
	"NodeGroupDeleteNodes":        {"Delete", "Empty"},
	"NodeGroupDecreaseTargetSize": {"Delta", "Empty"},
	"NodeGroupNodes":              {"Id", "Instances"},
	"NodeGroupTemplateNodeInfo":   {"Id", "Template"},
	"NodeGroupGetOptions":         {"OptionsOf", "Answer"},
}

type object = map[string]any

// encode writes an object in the form that JSON has once it is read.
func encode(message string, value object) ([]byte, error) {
	var out []byte
	for _, field := range messages[message] {
		content, ok := value[field.name]
		if !ok {
			continue
		}
		each := []any{content}
		if field.repeated {
			each = content.([]any)
		}
		for _, one := range each {
			switch field.kind {
			case text:
				out = protowire.AppendTag(out, field.number, protowire.BytesType)
				out = protowire.AppendString(out, one.(string))
			case number:
				out = protowire.AppendTag(out, field.number, protowire.VarintType)
				out = protowire.AppendVarint(out, uint64(int64(one.(float64))))
			case truth:
				out = protowire.AppendTag(out, field.number, protowire.VarintType)
				out = protowire.AppendVarint(out, protowire.EncodeBool(one.(bool)))
			case double:
				out = protowire.AppendTag(out, field.number, protowire.Fixed64Type)
				out = protowire.AppendFixed64(out, math.Float64bits(one.(float64)))
			case labels:
				for key, label := range one.(object) {
					var pair []byte
					pair = protowire.AppendTag(pair, 1, protowire.BytesType)
					pair = protowire.AppendString(pair, key)
					pair = protowire.AppendTag(pair, 2, protowire.BytesType)
					pair = protowire.AppendString(pair, label.(string))
					out = protowire.AppendTag(out, field.number, protowire.BytesType)
					out = protowire.AppendBytes(out, pair)
				}
			case node, pod:
				bytes, err := encodeObject(field.kind, one)
				if err != nil {
					return nil, err
				}
				out = protowire.AppendTag(out, field.number, protowire.BytesType)
				out = protowire.AppendBytes(out, bytes)
			case inner:
				bytes, err := encode(field.of, one.(object))
				if err != nil {
					return nil, err
				}
				out = protowire.AppendTag(out, field.number, protowire.BytesType)
				out = protowire.AppendBytes(out, bytes)
			}
		}
	}
	return out, nil
}

// encodeObject writes an object of Kubernetes as the API writes it.
func encodeObject(kind kind, value any) ([]byte, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var object interface{ Marshal() ([]byte, error) } = &corev1.Node{}
	if kind == pod {
		object = &corev1.Pod{}
	}
	if err := json.Unmarshal(content, object); err != nil {
		return nil, err
	}
	return object.Marshal()
}

// decode reads a message. A field that there is none of in the table is an error.
func decode(message string, bytes []byte) (object, error) {
	value := object{}
	for len(bytes) > 0 {
		number, wire, n := protowire.ConsumeTag(bytes)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		bytes = bytes[n:]
		var known *field
		for i := range messages[message] {
			if messages[message][i].number == number {
				known = &messages[message][i]
			}
		}
		if known == nil {
			return nil, fmt.Errorf("%s has no field %d", message, number)
		}
		var one any
		switch wire {
		case protowire.VarintType:
			content, n := protowire.ConsumeVarint(bytes)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			bytes = bytes[n:]
			one = float64(int64(content))
			if known.kind == truth {
				one = content != 0
			}
		case protowire.Fixed64Type:
			content, n := protowire.ConsumeFixed64(bytes)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			bytes = bytes[n:]
			one = math.Float64frombits(content)
		case protowire.BytesType:
			content, n := protowire.ConsumeBytes(bytes)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			bytes = bytes[n:]
			var err error
			if one, err = decodeBytes(known, content, value); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s.%s has the wire type %d", message, known.name, wire)
		}
		if known.repeated {
			before, _ := value[known.name].([]any)
			one = append(before, one)
		}
		value[known.name] = one
	}
	return value, nil
}

func decodeBytes(known *field, content []byte, before object) (any, error) {
	switch known.kind {
	case text:
		return string(content), nil
	case labels:
		all, ok := before[known.name].(object)
		if !ok {
			all = object{}
		}
		pair, err := decodePair(content)
		if err != nil {
			return nil, err
		}
		all[pair[0]] = pair[1]
		return all, nil
	case node:
		var node corev1.Node
		if err := node.Unmarshal(content); err != nil {
			return nil, err
		}
		return node, nil
	case pod:
		var pod corev1.Pod
		if err := pod.Unmarshal(content); err != nil {
			return nil, err
		}
		return pod, nil
	case inner:
		return decode(known.of, content)
	}
	return nil, fmt.Errorf("%s is no text", known.name)
}

func decodePair(content []byte) (pair [2]string, err error) {
	for len(content) > 0 {
		number, _, n := protowire.ConsumeTag(content)
		if n < 0 || number > 2 {
			return pair, fmt.Errorf("no pair: %v", content)
		}
		content = content[n:]
		text, n := protowire.ConsumeString(content)
		if n < 0 {
			return pair, protowire.ParseError(n)
		}
		content, pair[number-1] = content[n:], text
	}
	return pair, nil
}
