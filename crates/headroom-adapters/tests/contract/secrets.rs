//! What nobody may be told.

use headroom_adapters::fence::Fence;

use super::log::log_of;
use super::troubles::everything;
use super::{Stage, TROUBLES, WEB, group, machines};

pub(crate) async fn nobody_is_told_a_secret<S: Stage>() {
    let (mut told, mut secrets) = (Vec::new(), Vec::new());
    let log = log_of(async {
        let fence = Fence::open();
        let stage = S::start(&[WEB.of(3)], fence.clone()).await;
        told.push(stage.shown());
        // Machines are made and go, with all that they are told.
        let machine = machines(&group(&stage, "web").await).pop().unwrap();
        stage.cloud().replace("web", &[&machine]).await.unwrap();
        stage.cloud().resize("web", 3, 4).await.unwrap();
        let machine = machines(&group(&stage, "web").await).pop().unwrap();
        stage.cloud().remove("web", &[&machine]).await.unwrap();
        let machine = machines(&group(&stage, "web").await).pop().unwrap();
        fence.close();
        for trouble in [None].into_iter().chain(TROUBLES.map(Some)) {
            if stage.trouble(trouble).await {
                for (_, answer) in everything(&stage, &machine).await {
                    told.extend(answer.err().map(|error| whole(&error)));
                }
            }
        }
        secrets = stage.secrets();
    })
    .await;
    told.push(log);
    are_not_in(&secrets, &told.join("\n"));
}

/// Fails where one of these is told.
pub(crate) fn are_not_in(secrets: &[String], told: &str) {
    for secret in secrets {
        assert!(secret.len() > 8, "it could be anywhere by chance");
        if let Some(at) = told.find(secret) {
            let start = (0..=at.saturating_sub(200)).rev().find(|at| told.is_char_boundary(*at)).unwrap_or_default();
            panic!("a secret is told: {}", &told[start..at + secret.len()]);
        }
    }
}

/// An error with everything that it shows of itself to people and to whoever looks for a bug.
pub(crate) fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts = causes.map(ToString::to_string).collect::<Vec<_>>();
    format!("{}\n{error:?}\n{error:#?}", texts.join("\n"))
}
