# What is not Rust: the control plane that the end-to-end tests talk to and the other side of the protocol of external
# providers, which Go builds from pinned modules, once (about ten minutes on two cores), and moto, a pretended AWS, which pip
# installs.

bin := testenv/bin
components := etcd kube-apiserver kube-scheduler kube-controller-manager kubectl

.PHONY: control-plane nomad-check
control-plane: $(addprefix $(bin)/,$(components)) $(bin)/kwok $(bin)/kwok-stages.yaml

$(addprefix $(bin)/,$(components)): $(bin)/control-plane
	ln -sf control-plane $@

.PHONY: external-provider
external-provider: $(bin)/externalgrpc-peer

# The API server tells clients the version that is linked in.
$(bin)/control-plane: testenv/go.mod testenv/go.sum testenv/control-plane/main.go
	version=$$(go -C testenv list -m -f '{{.Version}}' k8s.io/kubernetes) && \
	minor=$${version#v1.} && stamp=k8s.io/component-base/version && \
	go -C testenv build -o bin/control-plane -ldflags "-s -w -X $$stamp.gitVersion=$$version \
		-X $$stamp.gitMajor=1 -X $$stamp.gitMinor=$${minor%%.*}" ./control-plane

$(bin)/kwok: testenv/kwok/go.mod testenv/kwok/go.sum
	go -C testenv/kwok build -o ../bin/kwok -ldflags "-s -w" sigs.k8s.io/kwok/cmd/kwok

$(bin)/externalgrpc-peer: $(wildcard testenv/externalgrpc/*)
	go -C testenv/externalgrpc build -o ../bin/externalgrpc-peer -ldflags "-s -w" .

# What kwok does with nodes and pods: it makes nodes ready, renews their leases, runs pods and lets them go.
$(bin)/kwok-stages.yaml: testenv/kwok/go.mod
	mkdir -p $(bin)
	stages=$$(go -C testenv/kwok list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage && cd "$$stages" && \
	for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
		pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do \
		echo ---; cat $$stage.yaml || exit 1; \
	done > "$(CURDIR)/$@.part"
	mv $@.part $@

.PHONY: moto
moto: $(bin)/moto/installed

$(bin)/moto/installed: testenv/moto/requirements.txt
	python3 -m venv $(bin)/moto
	$(bin)/moto/bin/pip install --quiet --disable-pip-version-check --no-deps -r $<
	cp $< $@

# Reads the pretended Nomad server through Nomad's official client.
nomad-check: $(bin)/nomad-check

$(bin)/nomad-check: testenv/nomad/go.mod testenv/nomad/go.sum testenv/nomad/main.go
	go -C testenv/nomad build -o ../bin/nomad-check -ldflags "-s -w" .
