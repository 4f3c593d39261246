//! Pools of a Nomad cluster: the seed's tables, and how servers come and go.

mod backoff;
mod drains;
mod limits;
mod lost;
mod public;
mod tables;
mod unplaced;
mod utilization;
mod walks;

use expect_test::Expect;
use headroom_core::fixture::Fixture;

fn check(fixture: &str, expected: Expect) {
    match Fixture::read(fixture) {
        Ok(fixture) => expected.assert_eq(&fixture.to_string()),
        Err(error) => panic!("{error}"),
    }
}
