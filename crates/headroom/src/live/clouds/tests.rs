//! Clouds that answer and clouds that do not, by a clock of the test's own.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use headroom_adapters::cloud::Stays;
use headroom_core::snapshot::Template;

use super::*;

/// A cloud that answers what it is given, and then the same again and again.
#[derive(Default)]
struct Script {
    asked: Mutex<usize>,
    answers: Mutex<VecDeque<Result<u32, CloudError>>>,
    last: Mutex<u32>,
}

#[async_trait]
impl Cloud for Script {
    async fn groups(&self) -> Result<Vec<CloudGroup>, CloudError> {
        *self.asked.lock().unwrap() += 1;
        let size = match self.answers.lock().unwrap().pop_front() {
            Some(answer) => answer?,
            None => *self.last.lock().unwrap(),
        };
        *self.last.lock().unwrap() = size;
        Ok(vec![CloudGroup { name: "web".into(), target: size, ..CloudGroup::default() }])
    }

    async fn resize(&self, _: &str, _: u32, _: u32) -> Result<(), CloudError> {
        Ok(())
    }

    async fn remove(&self, _: &str, _: &[&str]) -> Result<Vec<Stays>, CloudError> {
        Ok(Vec::new())
    }

    async fn replace(&self, _: &str, _: &[&str]) -> Result<Vec<Stays>, CloudError> {
        Ok(Vec::new())
    }

    async fn template(&self, _: &str) -> Result<Option<Template>, CloudError> {
        Ok(None)
    }
}

const INTERVAL: SignedDuration = SignedDuration::from_secs(1);

struct Watched {
    script: Arc<Script>,
    clouds: Clouds,
}

/// What a reading came to.
#[derive(Debug, PartialEq)]
struct Read {
    /// Whether the cloud was asked.
    asked: bool,
    /// The size, if it has changed; None if the group is known no more.
    changed: Option<Option<u32>>,
    error: Option<String>,
}

impl Watched {
    fn new(answers: impl IntoIterator<Item = Result<u32, CloudError>>) -> Self {
        let script = Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), ..Script::default() });
        let cloud = Arc::clone(&script) as Arc<dyn Cloud>;
        Watched { script, clouds: Clouds::new(vec![Owner { cloud, groups: vec!["web".into()] }]) }
    }

    async fn at(&mut self, second: i64) -> Read {
        let asked = *self.script.asked.lock().unwrap();
        let now = Timestamp::from_second(second).unwrap();
        let (changes, errors) = self.clouds.read(now, INTERVAL).await;
        assert!(changes.len() <= 1 && errors.len() <= 1, "{changes:?} {errors:?}");
        let changed = changes.into_iter().next().map(|change| match change {
            Change::Group(group) => Some(group.target),
            Change::GroupGone(_) => None,
            other => panic!("{other:?}"),
        });
        let error = errors.first().map(|(groups, error)| {
            assert_eq!(*groups, ["web".into()]);
            error.to_string()
        });
        Read { asked: *self.script.asked.lock().unwrap() > asked, changed, error }
    }

    /// The seconds of this time in which the cloud was asked.
    async fn asked(&mut self, seconds: std::ops::Range<i64>) -> Vec<i64> {
        let mut asked = Vec::new();
        for second in seconds {
            if self.at(second).await.asked {
                asked.push(second);
            }
        }
        asked
    }
}

fn broken() -> CloudError {
    CloudError::Unauthorized { reason: "expired".to_owned() }
}

fn throttled(seconds: u64) -> CloudError {
    CloudError::Throttled { reason: "slowly".to_owned(), retry_after: Some(Duration::from_secs(seconds)) }
}

#[tokio::test]
async fn a_cloud_that_does_not_answer_is_asked_again_after_a_growing_time() {
    let mut watched = Watched::new((0..12).map(|_| Err(broken())));
    assert_eq!(watched.asked(0..300).await, [0, 2, 6, 14, 30, 62, 122, 182, 242]);
}

#[tokio::test]
async fn the_reason_is_in_every_round_until_it_answers() {
    let mut watched = Watched::new([Ok(3), Err(broken()), Err(broken())]);
    assert_eq!(watched.at(0).await, Read { asked: true, changed: Some(Some(3)), error: None });
    let error = Some(broken().to_string());
    for (second, asked) in [(10, true), (11, false), (12, true), (13, false), (15, false)] {
        assert_eq!(watched.at(second).await, Read { asked, changed: None, error: error.clone() }, "second {second}");
    }
    assert_eq!(watched.at(16).await, Read { asked: true, changed: None, error: None });
    // It is asked as often as before, and the next failure is the first again.
    assert_eq!(watched.asked(17..20).await, [17, 18, 19]);
    watched.script.answers.lock().unwrap().extend([Err(broken()), Ok(4)]);
    assert_eq!(watched.asked(20..23).await, [20, 22]);
}

#[tokio::test]
async fn a_cloud_that_asks_for_more_time_gets_it() {
    let mut watched = Watched::new([Err(throttled(90)), Err(throttled(1)), Err(throttled(1)), Ok(1)]);
    assert_eq!(watched.asked(0..103).await, [0, 90, 94, 102], "and never less than without");
}

#[tokio::test]
async fn groups_are_unknown_once_the_last_answer_is_too_old_whether_or_not_the_cloud_is_asked() {
    let mut watched = Watched::new([Ok(3), Err(throttled(3600)), Ok(3)]);
    watched.at(0).await;
    for second in [1, 60, 119] {
        assert_eq!(watched.at(second).await.changed, None, "second {second}");
    }
    let unknown = watched.at(120).await;
    assert_eq!((unknown.asked, unknown.changed), (false, Some(None)));
    assert_eq!(watched.at(121).await.changed, None, "it is said once");
    assert_eq!(watched.at(3601).await, Read { asked: true, changed: Some(Some(3)), error: None });
}

#[tokio::test]
async fn what_was_done_makes_nobody_ask_a_cloud_that_does_not_answer() {
    let mut watched = Watched::new([Ok(3), Err(broken()), Err(broken()), Ok(4)]);
    watched.at(0).await;
    watched.at(1).await;
    watched.clouds.touched("web");
    assert!(!watched.at(2).await.asked);
    assert!(watched.at(3).await.asked);
    watched.clouds.touched("web");
    assert_eq!(watched.at(7).await.changed, Some(Some(4)));
    watched.clouds.touched("web");
    watched.clouds.read(Timestamp::from_second(7).unwrap(), INTERVAL).await;
    assert_eq!(*watched.script.asked.lock().unwrap(), 5, "one that answers is asked at once");
}

/// The groups whose changes were told, and those that are gone with a `-`.
fn told(changes: Vec<Change>) -> Vec<String> {
    let told = changes.into_iter().map(|change| match change {
        Change::Group(group) => format!("{} {}", group.name, group.target),
        Change::GroupGone(name) => format!("-{name}"),
        other => panic!("{other:?}"),
    });
    told.collect()
}

fn owner(script: &Arc<Script>, groups: &[&str]) -> Owner {
    let groups = groups.iter().map(|name| Arc::from(*name)).collect();
    Owner { cloud: Arc::clone(script) as Arc<dyn Cloud>, groups }
}

#[tokio::test]
async fn an_owner_whose_groups_are_as_before_stays_with_all_that_it_knows() {
    let mut watched = Watched::new([Ok(3)]);
    watched.at(0).await;
    let other = Arc::new(Script::default());
    assert!(watched.clouds.replace(vec![owner(&other, &["web"])], |_| false).is_empty());
    assert_eq!(watched.at(1).await, Read { asked: true, changed: None, error: None });
    assert_eq!(*other.asked.lock().unwrap(), 0, "the new one is not needed");
    watched.clouds.replace(vec![owner(&other, &["web"])], |group| group == "web");
    watched.clouds.read(Timestamp::from_second(2).unwrap(), INTERVAL).await;
    assert_eq!(*other.asked.lock().unwrap(), 1, "other settings need another owner");
}

#[tokio::test]
async fn a_group_that_stays_is_known_until_its_new_owner_answers() {
    let mut watched = Watched::new([Ok(3)]);
    watched.at(0).await;
    let silent = Script { answers: Mutex::new([Err(broken()), Ok(4)].into()), ..Script::default() };
    let silent = Arc::new(silent);
    assert!(watched.clouds.replace(vec![owner(&silent, &["web", "new"])], |_| false).is_empty());
    let read = async |clouds: &mut Clouds, second| {
        told(clouds.read(Timestamp::from_second(second).unwrap(), INTERVAL).await.0)
    };
    assert!(read(&mut watched.clouds, 1).await.is_empty(), "what was said before still holds");
    assert_eq!(read(&mut watched.clouds, 3).await, ["web 4"]);
}

#[tokio::test]
async fn a_group_that_nobody_has_any_more_is_gone() {
    let mut watched = Watched::new([Ok(3)]);
    watched.at(0).await;
    watched.clouds.refused(&"web".into(), &CloudError::NotLeading, Timestamp::UNIX_EPOCH);
    assert_eq!(told(watched.clouds.replace(Vec::new(), |_| false)), ["-web"]);
    assert!(watched.clouds.of("web").is_none());
    // If it comes back, what was refused before is over.
    watched.clouds.replace(vec![owner(&watched.script, &["web"])], |_| false);
    let (changes, _) = watched.clouds.read(Timestamp::from_second(1).unwrap(), INTERVAL).await;
    assert!(matches!(&changes[..], [Change::Group(group)] if group.failure.is_none()), "{changes:?}");
}
