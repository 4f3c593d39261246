// Package helm renders the chart with Helm's own engine and compares what comes out with deploy/kubernetes.yaml.
package helm

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	deploy    = "../../deploy/"
	namespace = "headroom"
)

type object = map[string]any

// Every object of a text, by kind and name.
func objects(t *testing.T, text string) map[string]object {
	t.Helper()
	found := map[string]object{}
	for _, document := range strings.Split(text, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var it object
		if err := yaml.UnmarshalStrict([]byte(document), &it); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		name := it["kind"].(string) + "/" + it["metadata"].(object)["name"].(string)
		if _, twice := found[name]; twice {
			t.Fatalf("%s is there twice", name)
		}
		found[name] = it
	}
	return found
}

func manifest(t *testing.T, file string) map[string]object {
	t.Helper()
	text, err := os.ReadFile(deploy + file)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(text))
}

// What `helm template` prints.
func rendered(t *testing.T, values string) map[string]object {
	t.Helper()
	chart, err := loader.Load(deploy + "helm/headroom")
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	options := chartutil.ReleaseOptions{Name: "headroom", Namespace: namespace, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, given, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for name, content := range files {
		if strings.HasSuffix(name, ".yaml") {
			text.WriteString(content + "\n---\n")
		}
	}
	return objects(t, text.String())
}

// Leaves out what a chart has beside a manifest: labels, and the name of the release in that of cluster roles.
func bare(t *testing.T, it object) object {
	t.Helper()
	text, err := json.Marshal(it)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("headroom-"+namespace), []byte("headroom"))
	var copied object
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	metadata := copied["metadata"].(object)
	delete(metadata, "labels")
	delete(metadata, "namespace")
	if spec, ok := copied["spec"].(object); ok {
		delete(spec, "selector")
		template := spec["template"].(object)
		delete(template["metadata"].(object), "labels")
		container := template["spec"].(object)["containers"].([]any)[0].(object)
		delete(container, "imagePullPolicy")
	}
	if data, ok := copied["data"].(object); ok {
		// Keys in another order and no comments.
		var config object
		if err := yaml.Unmarshal([]byte(data["headroom.yaml"].(string)), &config); err != nil {
			t.Fatal(err)
		}
		data["headroom.yaml"] = config
	}
	return copied
}

func same(t *testing.T, rendered, manifest map[string]object) {
	t.Helper()
	for name, it := range manifest {
		if strings.HasPrefix(name, "Namespace/") {
			continue
		}
		kind := strings.Split(name, "/")[0]
		if strings.HasPrefix(kind, "ClusterRole") {
			name = strings.Replace(name, "/headroom", "/headroom-"+namespace, 1)
		}
		of, found := rendered[name]
		if !found {
			t.Errorf("the chart makes no %s", name)
			continue
		}
		delete(rendered, name)
		if got, want := bare(t, of), bare(t, it); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%v\nin the chart and\n%v\nin the manifest", name, got, want)
		}
	}
	for name := range rendered {
		t.Errorf("only the chart makes %s", name)
	}
}

func TestTheDefaultsAreTheManifest(t *testing.T) {
	same(t, rendered(t, ""), manifest(t, "kubernetes.yaml"))
}

func TestKwokIsItsManifestToo(t *testing.T) {
	both := manifest(t, "kubernetes.yaml")
	for name, it := range manifest(t, "kwok.yaml") {
		both[name] = it
	}
	same(t, rendered(t, "kwok: true"), both)
}

func TestCapacityBuffersAreTheirManifestToo(t *testing.T) {
	both := manifest(t, "kubernetes.yaml")
	for name, it := range manifest(t, "capacity-buffers.yaml") {
		both[name] = it
	}
	same(t, rendered(t, "capacityBuffers: { scale: true }"), both)
}

func TestEveryValueFindsItsPlace(t *testing.T) {
	all := rendered(t, `
image: { repository: registry.example/headroom, tag: "1.2", pullPolicy: Always }
imagePullSecrets: [{ name: registry }]
replicas: 2
serviceAccount: { annotations: { eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/headroom" } }
resources: { limits: { memory: 2Gi } }
priorityClassName: system-cluster-critical
nodeSelector: { pool: system }
tolerations: [{ key: pool, operator: Exists }]
affinity: { nodeAffinity: {} }
podAnnotations: { example.com/a: b }
env: [{ name: HEADROOM_LOG, value: debug }]
`)
	deployment, err := json.Marshal(all["Deployment/headroom"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"image":"registry.example/headroom:1.2"`, `"imagePullPolicy":"Always"`, `"imagePullSecrets":[{"name":"registry"}]`,
		`"replicas":2`, `"memory":"2Gi"`, `"priorityClassName":"system-cluster-critical"`, `"nodeSelector":{"pool":"system"}`,
		`"tolerations":[{"key":"pool","operator":"Exists"}]`, `"affinity":{"nodeAffinity":{}}`, `"example.com/a":"b"`,
		`{"name":"HEADROOM_LOG","value":"debug"}`,
	} {
		if !bytes.Contains(deployment, []byte(part)) {
			t.Errorf("no %s in %s", part, deployment)
		}
	}
	annotations := all["ServiceAccount/headroom"]["metadata"].(object)["annotations"]
	if want := (object{"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/headroom"}); !reflect.DeepEqual(annotations, want) {
		t.Errorf("the account has the annotations %v", annotations)
	}
}
