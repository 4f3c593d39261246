//! Claims of pods: on volumes and on devices.

use expect_test::expect;

use super::spec;

#[test]
fn claims_by_name_and_claims_made_for_the_pod() {
    expect![[r#"
        claims "data-db-0"
        claims "p-scratch"
    "#]].assert_eq(&spec(
        r#""volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}, {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
                       {"name": "again", "persistentVolumeClaim": {"claimName": "data-db-0", "readOnly": true}},
                       {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
                       {"name": "secret", "csi": {"driver": "secrets-store.csi.k8s.io"}}]"#,
    ));
}

/// The drivers that attach them count them; Headroom does not.
#[test]
fn disks_without_a_claim_are_warned_of() {
    expect![[r#"
        warning: volume a: a disk without a claim is not counted among the node's volumes
        warning: volume b: a disk without a claim is not counted among the node's volumes
    "#]].assert_eq(&spec(
        r#""volumes": [{"name": "a", "awsElasticBlockStore": {"volumeID": "vol-1"}}, {"name": "b", "gcePersistentDisk": {"pdName": "d"}},
                       {"name": "c", "nfs": {"server": "s"}}]"#,
    ));
}

/// Under the names that the pod has for them, so that pods that get a claim each from one template are equal.
#[test]
fn devices() {
    expect![[r#"
        resourceClaims "gpu"
        resourceClaims "shared"
    "#]].assert_eq(&spec(
        r#""resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}, {"name": "shared", "resourceClaimName": "fpga-7"}]"#,
    ));
}
