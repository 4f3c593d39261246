# Headroom as a job of the Nomad cluster that it scales, in dry run: it plans, shows what it would do, and changes nothing.
#
#     nomad job run deploy/nomad.hcl
#     nomad alloc logs -stderr -f -job headroom
#
# Its policy is in docs/nomad.md: `nomad acl policy apply -namespace default -job headroom headroom FILE`. The identity of
# the task is then its token (Nomad 1.5 or later); for older ones leave out
# `identity`, and give it NOMAD_ADDR and NOMAD_TOKEN.
job "headroom" {
  type = "service"

  group "headroom" {
    count = 1

    network {
      port "http" {}
    }

    task "headroom" {
      driver = "docker"

      config {
        image = "headroom:0.1.0"
        args  = ["run", "--config", "${NOMAD_TASK_DIR}/headroom.yaml"]
        ports = ["http"]
      }

      identity {
        env = true
      }

      env {
        NOMAD_ADDR = "unix://${NOMAD_SECRETS_DIR}/api.sock"
        # What the instance is called in the election.
        POD_NAME = "${NOMAD_ALLOC_ID}"
      }

      template {
        destination = "local/headroom.yaml"
        # It is read again when it changes.
        change_mode = "noop"
        data        = <<YAML
cluster: { nomad: { state: { variables: { path: headroom } } } }
dryRun: true
http: { address: "0.0.0.0:{{ env "NOMAD_PORT_http" }}" }
groups:
  - name: jobs
    select: { nodeClass: job }
    size: { min: 1, max: 10 }
    strategy:
      memoryPool:
        hardware: [{ name: large, memory: 8000Mi }]
        reserve: 1Gi
YAML
      }

      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
