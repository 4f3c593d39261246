// Reads a Nomad server through Nomad's official client, so that the pretended server of the tests speaks what a real one
// does. Its arguments are the server's address and the name of the face that it has.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/nomad/api"
)

func main() {
	if err := check(os.Args[1], os.Args[2] == "new"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(address string, isNew bool) error {
	client, err := api.NewClient(&api.Config{Address: address})
	if err != nil {
		return err
	}
	everywhere := &api.QueryOptions{Namespace: "*"}
	nodes, meta, err := client.Nodes().List(&api.QueryOptions{Params: map[string]string{"resources": "true"}})
	if err != nil {
		return err
	}
	if len(nodes) != 1 || meta.LastIndex == 0 {
		return fmt.Errorf("1 node was expected, there are %d at %d", len(nodes), meta.LastIndex)
	}
	stub := nodes[0]
	if stub.Status != "ready" || stub.SchedulingEligibility != "eligible" || stub.NodeResources.Memory.MemoryMB != 1000 {
		return fmt.Errorf("the node is %+v", stub)
	}
	if isNew && stub.NodePool != "default" {
		return fmt.Errorf("the pool is %q", stub.NodePool)
	}
	node, _, err := client.Nodes().Info(stub.ID, nil)
	if err != nil {
		return err
	}
	if node.Meta["hardware"] != "large" || node.Events[0].Message != "Node registered" || node.Events[0].Timestamp.IsZero() {
		return fmt.Errorf("the node is %+v", node)
	}
	jobs, _, err := client.Jobs().List(everywhere)
	if err != nil {
		return err
	}
	if len(jobs) != 1 || jobs[0].JobSummary.Summary["g"].Queued != 1 || jobs[0].JobModifyIndex == 0 {
		return fmt.Errorf("the jobs are %+v", jobs)
	}
	job, _, err := client.Jobs().Info(jobs[0].ID, &api.QueryOptions{Namespace: jobs[0].JobSummary.Namespace})
	if err != nil {
		return err
	}
	group := job.TaskGroups[0]
	if job.Constraints[0].LTarget != "${node.class}" || *group.Count != 2 || *group.Tasks[0].Resources.MemoryMB != 600 {
		return fmt.Errorf("the job is %+v", job)
	}
	allocations, _, err := client.Allocations().List(&api.QueryOptions{Namespace: "*", Params: map[string]string{"resources": "true"}})
	if err != nil {
		return err
	}
	if len(allocations) != 1 || allocations[0].AllocatedResources.Tasks["t"].Memory.MemoryMB != 600 || allocations[0].NodeID != stub.ID {
		return fmt.Errorf("the allocations are %+v", allocations)
	}
	if _, _, err := client.Allocations().Info(allocations[0].ID, nil); err != nil {
		return err
	}
	own, _, err := client.Nodes().Allocations(stub.ID, nil)
	if err != nil || len(own) != 1 {
		return fmt.Errorf("the allocations of the node are %+v: %w", own, err)
	}
	stats, err := client.Nodes().Stats(stub.ID, nil)
	if err != nil {
		return err
	}
	if len(stats.CPU) != 2 || stats.CPU[0].Idle != 60 {
		return fmt.Errorf("the client says %+v", stats)
	}
	if _, err := client.Nodes().ToggleEligibility(stub.ID, false, nil); err != nil {
		return err
	}
	drain := &api.DrainOptions{DrainSpec: &api.DrainSpec{Deadline: time.Hour, IgnoreSystemJobs: true}}
	if _, err := client.Nodes().UpdateDrainOpts(stub.ID, drain, nil); err != nil {
		return err
	}
	node, _, err = client.Nodes().Info(stub.ID, nil)
	if err != nil {
		return err
	}
	if node.DrainStrategy != nil && node.DrainStrategy.Deadline != time.Hour {
		return fmt.Errorf("the drain is %+v", node.DrainStrategy)
	}
	if !isNew {
		return nil
	}
	return variables(client)
}

func variables(client *api.Client) error {
	vars := client.Variables()
	written, _, err := vars.CheckedCreate(&api.Variable{Path: "a/b", Items: api.VariableItems{"k": "v"}}, nil)
	if err != nil {
		return err
	}
	read, _, err := vars.Read("a/b", nil)
	if err != nil || read.Items["k"] != "v" || read.ModifyIndex != written.ModifyIndex {
		return fmt.Errorf("the variable is %+v: %w", read, err)
	}
	locks, err := client.Locks(api.WriteOptions{}, api.Variable{Path: "a/lock", Lock: &api.VariableLock{TTL: "15s", LockDelay: "15s"}})
	if err != nil {
		return err
	}
	if _, err := locks.Acquire(context.Background()); err != nil {
		return err
	}
	return locks.Release(context.Background())
}
