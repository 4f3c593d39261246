//! Asks a running instance.

use std::time::Duration;

use anyhow::Context;
use reqwest::{StatusCode, Url};

const DEADLINE: Duration = Duration::from_secs(30);

/// A running instance.
pub(super) struct Server {
    url: Url,
}

impl Server {
    /// The instance whose HTTP interface is at `url`.
    pub(super) fn at(url: &str) -> anyhow::Result<Self> {
        let url: Url = url
            .parse()
            .map_err(|error| anyhow::anyhow!("--server {url}: {error}; hint: write it like http://127.0.0.1:8085"))?;
        Ok(Server { url })
    }

    /// The answer to `path`, for example `["plan"]`.
    pub(super) fn get(&self, path: &[&str], query: &[(&str, &str)]) -> anyhow::Result<String> {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .map_err(|()| anyhow::anyhow!("--server {}: this is no address of a server", self.url))?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let client = reqwest::Client::builder().timeout(DEADLINE).build()?;
            let unreachable = || format!("{} does not answer; hint: is `headroom run` running there?", self.url);
            let answer = client.get(url).send().await.with_context(unreachable)?;
            let status = answer.status();
            let text = answer.text().await.with_context(unreachable)?;
            match status {
                StatusCode::OK => Ok(text),
                StatusCode::NOT_FOUND => anyhow::bail!("{}", text.trim_end()),
                _ => anyhow::bail!("{} answers {status}: {}", self.url, text.trim_end()),
            }
        })
    }
}
