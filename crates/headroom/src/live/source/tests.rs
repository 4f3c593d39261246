//! Clouds that have other groups from one minute to the next, by paused time.

use std::sync::Mutex;

use super::*;
use crate::config;

const FILE: &str = "
discover:
  - cloud: { aws: { tags: { team: web } } }
    size: { max: 9 }
    strategy: { pending: {} }
  - cloud: { externalgrpc: { address: provider:8086 } }
    mode: growOnly
    strategy: { utilization: { countPods: placed } }
";

/// What the two clouds answer; None is a cloud that does not.
#[derive(Default)]
struct Answers {
    aws: Option<Vec<FoundGroup>>,
    external: Option<Vec<FoundGroup>>,
    asked: usize,
}

struct World {
    answers: Arc<Mutex<Answers>>,
    file: Arc<Mutex<String>>,
    source: Source,
}

impl World {
    fn new(file: &str) -> Self {
        let (answers, file) = (Arc::new(Mutex::new(Answers::default())), Arc::new(Mutex::new(file.to_owned())));
        let (told, text) = (Arc::clone(&answers), Arc::clone(&file));
        let read = move |found: &Found| config::parse_with("headroom.yaml", &text.lock().unwrap(), found);
        let ask = move |cloud: Cloud| -> BoxFuture<'static, Result<Vec<FoundGroup>, CloudError>> {
            let mut told = told.lock().unwrap();
            told.asked += 1;
            let answer = if let Cloud::Aws(_) = cloud { told.aws.clone() } else { told.external.clone() };
            let error = || CloudError::Unauthorized { reason: "the token has expired".to_owned() };
            Box::pin(async move { answer.ok_or_else(error) })
        };
        World { answers, file, source: Source::asking(Box::new(read), Box::new(ask)) }
    }

    fn has(&self, aws: Option<&[&str]>, external: Option<&[&str]>) {
        let groups = |ids: &[&str]| {
            ids.iter().map(|id| FoundGroup { id: (*id).into(), ..FoundGroup::default() }).collect::<Vec<_>>()
        };
        let mut answers = self.answers.lock().unwrap();
        (answers.aws, answers.external) = (aws.map(groups), external.map(groups));
    }

    /// The groups that there are, or why they are not known.
    async fn groups(&mut self) -> String {
        match self.source.load().await {
            Ok(config) => config.policy.groups.iter().map(|group| &*group.name).collect::<Vec<_>>().join(" "),
            Err(error) => format!("{error:#}"),
        }
    }

    async fn after(&mut self, seconds: u64) -> String {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        self.groups().await
    }

    fn asked(&self) -> usize {
        std::mem::take(&mut self.answers.lock().unwrap().asked)
    }
}

#[tokio::test(start_paused = true)]
async fn groups_come_and_go_within_a_minute_and_have_the_settings_of_their_entry() {
    let mut world = World::new(FILE);
    world.has(Some(&["web-a", "web-b"]), Some(&["pool"]));
    let config = world.source.load().await.unwrap();
    let groups: Vec<_> = config.policy.groups.iter().map(|group| (&*group.name, group.size.max, group.mode)).collect();
    use headroom_core::policy::Mode;
    let expected = [("web-a", Some(9), Mode::Auto), ("web-b", Some(9), Mode::Auto), ("pool", None, Mode::GrowOnly)];
    assert_eq!(groups, expected);
    // As if each had an entry.
    let names: Vec<_> = config.aws_groups().into_values().flatten().map(|group| group.name).collect();
    assert_eq!(names, ["web-a".into(), "web-b".into()] as [Arc<str>; 2]);
    assert_eq!(
        config.external_groups().into_values().flatten().map(|group| group.id).collect::<Vec<_>>(),
        ["pool".into()] as [Box<str>; 1]
    );
    assert_eq!(world.asked(), 2);
    world.has(Some(&["web-b", "web-c"]), Some(&["pool"]));
    assert_eq!(world.after(59).await, "web-a web-b pool");
    assert_eq!(world.asked(), 0, "a minute has not passed");
    assert_eq!(world.after(1).await, "web-b web-c pool");
}

#[tokio::test(start_paused = true)]
async fn what_was_found_stays_while_a_cloud_does_not_answer() {
    let mut world = World::new(FILE);
    world.has(Some(&["web-a"]), Some(&["pool"]));
    assert_eq!(world.groups().await, "web-a pool");
    world.has(None, Some(&[]));
    assert_eq!(world.after(60).await, "web-a", "the other one answers");
    assert_eq!(world.after(9).await, "web-a");
    assert_eq!(world.asked(), 4);
    world.has(Some(&["web-b"]), Some(&[]));
    assert_eq!(world.after(1).await, "web-b", "it is asked again soon");
    assert_eq!(world.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cloud_that_never_answered_is_an_error_that_says_which() {
    let mut world = World::new(FILE);
    world.has(None, Some(&["pool"]));
    let error = "it is not known which groups AWS with the tags team=web has: the cloud does not accept Headroom's \
                 credentials: the token has expired; hint: renew them";
    assert_eq!(world.groups().await, error);
    assert_eq!(world.after(2).await, error);
    assert_eq!(world.asked(), 2, "and is not asked each time that the file is looked at");
    world.has(Some(&["web-a"]), Some(&["pool"]));
    assert_eq!(world.after(8).await, "web-a pool");
    // The same for an entry that is new.
    world.has(None, None);
    world.file.lock().unwrap().push_str("  - { cloud: { aws: { tags: { team: new } } }, strategy: { pending: {} } }\n");
    assert!(world.groups().await.contains("AWS with the tags team=new has"));
    world.has(Some(&["new"]), None);
    assert_eq!(world.after(10).await, "web-a pool new");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_discovers_nothing_asks_nobody() {
    let mut world =
        World::new("groups: [{ name: web, select: { label: { pool: web } }, strategy: { utilization: {} } }]");
    assert_eq!(world.groups().await, "web");
    assert_eq!(world.asked(), 0);
}
