//! Each constraint on its own: which pod may run on which node, and what is said when not.

use headroom_core::scheduling::{Placement, Supply};
use headroom_core::snapshot::ClassId;

use crate::cluster::Cluster;

/// `fits POD NODE`, `refuses POD NODE: WORDS`, `empties NODE` and `keeps NODE` for whether the pods on it would all find
/// another place, and what the cluster is made of. `case` begins anew.
fn check(text: &str) {
    let mut failures = Vec::new();
    let mut asked = 0;
    for case in text.split("\ncase ") {
        let mut cluster = Cluster::new();
        let mut questions = Vec::new();
        for line in case.lines().skip(1).filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            if !cluster.line(word, rest) {
                questions.push((word, rest));
            }
        }
        asked += questions.len();
        cluster.place(|placement| {
            let pods = cluster.waiting(placement);
            for (word, rest) in &questions {
                if let "empties" | "keeps" = *word {
                    if empties(placement, rest, cluster.on(rest)) != (*word == "empties") {
                        failures.push(format!("{word} {rest} is wrong"));
                    }
                    continue;
                }
                let (who, expected) = rest.split_once(": ").unwrap_or((rest, ""));
                let (pod, node) = who.split_once(' ').unwrap_or((who, ""));
                let class = pods.iter().find(|(name, ..)| name == pod).map(|(_, class, _)| *class);
                let Some(class) = class else { panic!("no pod {pod}") };
                let answer = match (*word, node) {
                    ("fits" | "refuses", "anywhere") => placement.fits_any(class),
                    ("fits" | "refuses", node) => placement.fits(class, placement.node(node).expect(node)),
                    (other, _) => panic!("no such word: {other}"),
                };
                let answer = answer.err().map(|misfit| misfit.to_string());
                let wanted = (*word == "refuses").then(|| expected.to_owned());
                if answer != wanted {
                    let title = case.lines().next().unwrap_or_default();
                    failures.push(format!("{title}: {word} {who}\n  expected {wanted:?}\n  actual   {answer:?}"));
                }
            }
        });
    }
    assert!(asked > 0);
    assert!(failures.is_empty(), "{} of {asked} answers are wrong\n{}", failures.len(), failures.join("\n"));
}

/// Whether these pods find a place once their node is closed.
fn empties(placement: &mut Placement, node: &str, pods: Vec<ClassId>) -> bool {
    let (mark, node) = (placement.mark(), placement.node(node).expect(node));
    placement.close(node);
    for class in &pods {
        placement.unplace(*class, node);
    }
    let pods: Vec<(ClassId, u32)> = pods.into_iter().map(|class| (class, 1)).collect();
    let placed = placement.fill(&pods, &mut Supply::none()).unplaced.is_empty();
    placement.rollback(mark);
    placed
}

#[test]
fn resources() {
    check(include_str!("constraints/resources.cases"));
}

#[test]
fn nodes() {
    check(include_str!("constraints/nodes.cases"));
}

#[test]
fn neighbours() {
    check(include_str!("constraints/neighbours.cases"));
}

#[test]
fn spread() {
    check(include_str!("constraints/spread.cases"));
}

#[test]
fn volumes() {
    check(include_str!("constraints/volumes.cases"));
}

#[test]
fn leaving() {
    check(include_str!("constraints/leaving.cases"));
}
