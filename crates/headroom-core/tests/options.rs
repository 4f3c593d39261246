//! Where there are many options, only those that could still win are packed.

use headroom_core::expander::Ranked;
use headroom_core::fixture::Fixture;
use headroom_core::plan::Plan;

fn plan(fixture: &str) -> Plan {
    let mut fixture = Fixture::read(fixture).unwrap();
    fixture.round(false);
    fixture.plans.remove(0)
}

#[test]
fn options_that_are_not_packed_could_not_have_won() {
    // Many options and many kinds of pods: sizes of pods that fit machines badly, some of which keep off each other.
    let groups =
        (1..=60).map(|size| format!("group g{size} pending min=0 max=9999 template={size}/{}Gi target=0\n", 4 * size));
    let pods = (0..400).map(|at| {
        let apart = if at % 9 == 0 { " label=app=db apart=host;app=db" } else { "" };
        format!("pod p{at} cpu={}m memory={}Mi{apart}\n", 100 + at * 37 % 1_900, 100 + at * 53 % 3_000)
    });
    let head = || std::iter::once("policy expander=price,least-waste scaleUp=9999\n".to_owned());
    let all: String = head().chain(groups.clone()).chain(pods.clone()).collect();
    let options = &plan(&all).report.scale_ups[0].options;
    let (best, at_best): (Vec<&Ranked>, Vec<&Ranked>) = options.iter().partition(|option| !option.at_best);
    assert_eq!((options.len(), options[0].at_best), (60, false));
    assert!(!at_best.is_empty(), "everything was packed");
    for option in at_best {
        let group = groups.clone().filter(|line| line.starts_with(&format!("group {} ", option.rank.group)));
        let alone: String = head().chain(group).chain(pods.clone()).collect();
        let packed = &plan(&alone).report.scale_ups[0].options[0];
        assert!(!packed.at_best);
        assert!(option.rank <= packed.rank, "{packed} is better than {option}");
        assert!(best[0].rank < packed.rank, "{packed} is better than {}", best[0]);
    }
}
