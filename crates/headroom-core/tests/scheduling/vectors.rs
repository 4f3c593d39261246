//! Cluster Autoscaler's behaviour and public reports, as data (docs/compatibility-scheduling.md). A case states the
//! answer of the source (`theirs`) and, only where Headroom differs on purpose, Headroom's (`ours .. because ..`); one
//! that has no meaning here says why (`notApplicable`).

use std::collections::BTreeMap;

use headroom_core::estimator::{Estimate, Order, estimate};
use headroom_core::scheduling::{Placement, Supply, TemplateId};
use headroom_core::snapshot::ClassId;

use crate::cluster::Cluster;

const FILES: [(&str, &str); 9] = [
    ("estimator", include_str!("vectors/estimator.cases")),
    ("estimator: which class is counted", include_str!("vectors/fastpath.cases")),
    ("estimator: order", include_str!("vectors/order.cases")),
    ("estimator: limits", include_str!("vectors/limits.cases")),
    ("pods that fit already", include_str!("vectors/fits_already.cases")),
    ("expendable pods", include_str!("vectors/expendable.cases")),
    ("equivalence", include_str!("vectors/equivalence.cases")),
    ("scheduling", include_str!("vectors/scheduling.cases")),
    ("public reports", include_str!("vectors/public.cases")),
];

/// What is expected of a case: names and values.
type Facts<'l> = BTreeMap<&'l str, &'l str>;

#[derive(Default)]
struct Case<'l> {
    title: &'l str,
    cluster: Cluster,
    limit: Option<u32>,
    /// Templates of which machines are on their way.
    expected: Vec<(&'l str, u32)>,
    theirs: Facts<'l>,
    ours: Option<Facts<'l>>,
    not_applicable: bool,
    /// Pods and the words about them.
    why: Vec<(&'l str, &'l str)>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let texts = text.split("\ncase ").map(|case| case.strip_prefix("case ").unwrap_or(case));
    texts.map(read).collect()
}

fn read(text: &str) -> Case<'_> {
    let (title, body) = text.split_once('\n').unwrap_or((text, ""));
    let mut case = Case { title, cluster: Cluster::new(), ..Case::default() };
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "theirs" => case.theirs = facts(rest),
            "ours" => case.ours = Some(facts(rest.split_once(" because ").expect("a reason").0)),
            "notApplicable" => case.not_applicable = !rest.is_empty(),
            "why" => case.why.push(rest.split_once(": ").unwrap()),
            "expect" => {
                let (template, count) = rest.split_once(' ').unwrap();
                case.expected.push((template, count.parse().unwrap()));
            }
            // A second number is what there is already.
            "limit" => {
                let mut numbers = rest.split(' ').map(|number| number.parse::<u32>().unwrap());
                let most = numbers.next().unwrap();
                case.limit = Some(most.saturating_sub(numbers.next().unwrap_or(0)));
            }
            _ => assert!(case.cluster.line(word, rest), "{title}: what is {word}?"),
        }
    }
    case
}

fn facts(text: &str) -> Facts<'_> {
    text.split_whitespace().map(|word| word.split_once('=').unwrap()).collect()
}

impl Case<'_> {
    fn judge(&self) -> Result<(), String> {
        let answer = |expected: &Facts<'_>| -> BTreeMap<String, String> {
            expected.keys().map(|key| ((*key).to_owned(), self.fact(key))).collect()
        };
        let same = |expected: &Facts<'_>| answer(expected).iter().all(|(key, value)| expected[key.as_str()] == value);
        let complain = |who: &str, expected: &Facts<'_>| {
            Err(format!("{}\n{who} {expected:?}\nactual   {:?}", self.title, answer(expected)))
        };
        match &self.ours {
            _ if self.not_applicable => {}
            None if self.theirs.is_empty() => return Err(format!("{}: nothing is expected", self.title)),
            None if !same(&self.theirs) => return complain("expected", &self.theirs),
            Some(ours) if !same(ours) => return complain("expected", ours),
            Some(_) if same(&self.theirs) => return complain("no difference any more", &self.theirs),
            _ => {}
        }
        for (pod, expected) in &self.why {
            let actual = self.estimate(None, |_, found, waiting| {
                let (_, class, _) = waiting.iter().find(|(name, ..)| name == pod).unwrap();
                let unplaced = found.unplaced.iter().find(|unplaced| unplaced.class == *class);
                unplaced.map(|unplaced| unplaced.why.to_string())
            });
            if actual.as_deref() != Some(expected) {
                return Err(format!("{}\nwhy {pod}\nexpected {expected}\nactual   {actual:?}", self.title));
            }
        }
        Ok(())
    }

    fn fact(&self, key: &str) -> String {
        let (what, of) = key.split_once('.').unwrap_or((key, ""));
        match what {
            "nodes" if of.is_empty() => self.estimate(None, |_, found, _| found.node_count().to_string()),
            "nodes" => self.estimate(None, |_, found, _| found.nodes[self.template(of)].to_string()),
            "only" => self.estimate(Some(of), |_, found, _| found.node_count().to_string()),
            "placed" if of.is_empty() => self.estimate(None, |_, found, _| found.placed_count().to_string()),
            "placed" => self.estimate(None, |_, found, waiting| {
                let (_, class, _) = waiting.iter().find(|(name, ..)| name == of).unwrap();
                found.placed.iter().find(|(known, _)| known == class).map_or(0, |(_, count)| *count).to_string()
            }),
            "pods" => self.estimate(None, |placement, _, _| {
                let template = TemplateId(self.template(of) as u32);
                let machines = placement.new_nodes().into_iter().filter(|new| new.template == template);
                let pods = machines.map(|new| new.count * new.pods.iter().map(|(_, count)| count).sum::<u32>());
                pods.sum::<u32>().to_string()
            }),
            "order" => self.place(|placement| {
                let waiting = self.cluster.waiting(placement);
                let mut pods = lots(&waiting, None);
                Order::Size.sort(placement, Some(TemplateId(0)), &mut pods);
                let name = |class: &ClassId| waiting.iter().find(|(_, known, _)| known == class).unwrap().0.clone();
                pods.iter().map(|(class, _)| name(class)).collect::<Vec<_>>().join(",")
            }),
            "classes" => self.cluster.class_count().to_string(),
            "counts" => self.place(|placement| {
                let counts = self.cluster.waiting(placement).into_iter();
                let counts = counts.filter(|(_, class, _)| !placement.is_expendable(*class));
                counts.map(|(name, ..)| name).collect::<Vec<_>>().join(",")
            }),
            "fits" => self.fill().0.join(","),
            "waits" => self.fill().1.join(","),
            "on" => self.place(|placement| {
                let waiting = self.cluster.waiting(placement);
                let mark = placement.mark();
                placement.fill(&lots(&waiting, Some(of)), &mut Supply::none());
                let nodes = placement.placed_since(mark).into_iter();
                nodes.map(|(node, ..)| placement.name(node).to_owned()).collect::<Vec<_>>().join(",")
            }),
            "leaves" => self.place(|placement| {
                let node = placement.node(of).unwrap();
                let pods = self.cluster.on(of);
                placement.close(node);
                for class in &pods {
                    placement.unplace(*class, node);
                }
                let pods: Vec<(ClassId, u32)> = pods.into_iter().map(|class| (class, 1)).collect();
                placement.fill(&pods, &mut Supply::none()).unplaced.is_empty().to_string()
            }),
            _ => panic!("no such fact: {key}"),
        }
    }

    fn template(&self, name: &str) -> usize {
        self.cluster.template_names().iter().position(|known| *known == name).expect(name)
    }

    fn place<R>(&self, ask: impl FnOnce(&mut Placement) -> R) -> R {
        self.cluster.place(|placement| {
            for (template, count) in &self.expected {
                placement.expect(TemplateId(self.template(template) as u32), *count);
            }
            ask(placement)
        })
    }

    fn estimate<R>(
        &self,
        only: Option<&str>,
        ask: impl FnOnce(&Placement, &Estimate, &[(String, ClassId, u32)]) -> R,
    ) -> R {
        self.place(|placement| {
            let waiting = self.cluster.waiting(placement);
            let found = estimate(placement, &self.cluster.offers(), &lots(&waiting, only), self.limit);
            ask(placement, &found, &waiting)
        })
    }

    /// The names of waiting pods that fit on nodes that are there, and of those that do not.
    fn fill(&self) -> (Vec<String>, Vec<String>) {
        self.place(|placement| {
            let mut waiting = self.cluster.waiting(placement);
            waiting.retain(|(_, class, _)| !placement.is_expendable(*class));
            let mut pods = lots(&waiting, None);
            Order::Priority.sort(placement, None, &mut pods);
            let mut placed: BTreeMap<ClassId, u32> =
                placement.fill(&pods, &mut Supply::none()).placed.into_iter().collect();
            waiting.sort();
            let (fits, waits): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, class, count)| {
                let left = placed.get_mut(class).unwrap();
                let fits = *left >= *count;
                *left -= if fits { *count } else { 0 };
                fits
            });
            let names = |pods: Vec<(String, ClassId, u32)>| pods.into_iter().map(|(name, ..)| name).collect();
            (names(fits), names(waits))
        })
    }
}

/// Pods by class.
fn lots(waiting: &[(String, ClassId, u32)], only: Option<&str>) -> Vec<(ClassId, u32)> {
    let mut lots: Vec<(ClassId, u32)> = Vec::new();
    for (_, class, count) in waiting.iter().filter(|(name, ..)| only.is_none_or(|only| only == name)) {
        match lots.iter_mut().find(|(known, _)| known == class) {
            Some((_, sum)) => *sum += count,
            None => lots.push((*class, *count)),
        }
    }
    lots
}

#[test]
fn every_case_is_as_it_says() {
    for (kind, text) in FILES {
        let cases = cases(text);
        let failures: Vec<String> = cases.iter().filter_map(|case| case.judge().err()).collect();
        assert!(
            failures.is_empty(),
            "{} of {} {kind} cases fail:\n\n{}",
            failures.len(),
            cases.len(),
            failures.join("\n\n")
        );
    }
}

#[test]
fn the_documentation_counts_every_case() {
    let document = include_str!("../../../../docs/compatibility-scheduling.md");
    for (kind, text) in FILES {
        let cases = cases(text);
        let different = cases.iter().filter(|case| case.ours.is_some()).count();
        let not_applicable = cases.iter().filter(|case| case.not_applicable).count();
        let same = cases.len() - different - not_applicable;
        let row = format!("| {kind} | {} | {same} | {different} | {not_applicable} |", cases.len());
        assert!(document.contains(&row), "docs/compatibility-scheduling.md lacks the row\n{row}");
    }
}
