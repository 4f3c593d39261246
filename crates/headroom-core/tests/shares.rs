//! Pods that share GPUs, text in and text out.

use expect_test::{Expect, expect};
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_share_of_a_gpu_must_fit_on_one() {
    check(
        "group gpu pending min=0 max=9 template=8/32Gi ext=alibabacloud.com/gpu-milli:2000 target=1
         node g1 in=gpu cpu=8 memory=32Gi ext=alibabacloud.com/gpu-milli:2000
         pod a on=g1 cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:400 devices=0 running
         pod b on=g1 cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:500 devices=1 running
         pod half cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:600
         pod p{1..4} cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:600
         pod whole cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:1000
         pod four cpu=1 memory=1Gi ext=alibabacloud.com/gpu-milli:4000
         round",
        expect![[r#"
            gpu 1 -> 4, wants +3, 1 in service
              gpu: resize 1 -> 4 because 5 pods wait, default/whole among them
              option: gpu +3: waste 1.7396
              not: pod default/four: fits on no new node; closest is gpu: needs 4000 alibabacloud.com/gpu-milli, at most 2000 free
        "#]],
    );
}

#[test]
fn pods_whose_devices_nobody_knows_are_taken_to_be_packed_well() {
    check(
        "group gpu pending min=0 max=9 template=8/32Gi ext=koordinator.sh/gpu-core:200 target=1
         node g1 in=gpu cpu=8 memory=32Gi ext=koordinator.sh/gpu-core:200
         pod a on=g1 cpu=1 memory=1Gi ext=koordinator.sh/gpu-core:30 running
         pod b on=g1 cpu=1 memory=1Gi ext=koordinator.sh/gpu-core:70 running
         pod whole cpu=1 memory=1Gi ext=koordinator.sh/gpu-core:100
         round",
        expect![[r#"
            gpu 1, wants +0, 1 in service
        "#]],
    );
}
