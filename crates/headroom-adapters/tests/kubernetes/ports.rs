//! Ports of the node.

use expect_test::{Expect, expect};

use super::spec;

#[track_caller]
fn check(fields: &str, expected: &Expect) {
    expected.assert_eq(&spec(fields));
}

#[test]
fn those_of_containers_and_sidecars_are_taken() {
    check(
        r#""containers": [{"ports": [{"containerPort": 80}, {"containerPort": 80, "hostPort": 0},
                                      {"containerPort": 53, "hostPort": 5353, "protocol": "UDP", "hostIP": "10.0.0.1"}]},
                          {"ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "SCTP"}]}],
           "initContainers": [{"ports": [{"containerPort": 1, "hostPort": 1}]},
                              {"restartPolicy": "Always", "ports": [{"containerPort": 2, "hostPort": 2, "protocol": "TCP"}]}]"#,
        &expect![[r#"
            hostPorts {"ip":"10.0.0.1","port":5353,"protocol":"UDP"}
            hostPorts {"port":8080,"protocol":"SCTP"}
            hostPorts {"port":2,"protocol":"TCP"}
        "#]],
    );
}

#[test]
fn with_the_network_of_the_node_every_port_is_one_of_the_node() {
    check(
        r#""hostNetwork": true, "containers": [{"ports": [{"containerPort": 9100}]}]"#,
        &expect![[r#"
        hostPorts {"port":9100,"protocol":"TCP"}
    "#]],
    );
}

#[test]
fn what_nobody_understands() {
    check(
        r#""containers": [{"ports": [{"hostPort": 70000}, {"hostPort": -1}, {"hostPort": 7, "protocol": "QUIC"}]}]"#,
        &expect![[r#"
            hostPorts {"port":7,"protocol":"TCP"}
            hostPorts {"port":7,"protocol":"UDP"}
            hostPorts {"port":7,"protocol":"SCTP"}
            warning: host port 70000 is no port and is left out
            warning: host port -1 is no port and is left out
            warning: host port 7: unknown protocol "QUIC" counts as every one
        "#]],
    );
}
