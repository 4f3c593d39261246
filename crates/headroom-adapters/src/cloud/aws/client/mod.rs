//! A client of the two Query APIs of AWS that are needed, Auto Scaling and EC2: a form in, XML out.
//!
//! The generated clients are left out: EC2's alone takes longer to build than all the rest, and these calls are few.

mod account;
mod failure;
mod sign;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use self::account::Identity;
pub use self::account::{Account, Key};
pub(super) use self::failure::AwsError;
use self::failure::Kind;
use self::wire::Wire;
use crate::fence::Fence;
use crate::fenced::is_fenced;

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);
/// How long a call may take with all its attempts. The caller waits for ten seconds.
const BUDGET: Duration = Duration::from_secs(8);
/// What an attempt must have left of it. One that is cut short says nothing, not even that it was not done.
const SHORTEST: Duration = Duration::from_secs(1);
/// How long is waited before the second attempt; twice as long before each further one.
const BACKOFF: Duration = Duration::from_millis(200);
/// The largest answer that is read. A page of a hundred groups with all their machines is far below.
const LARGEST: usize = 32 << 20;

/// One of the two APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    AutoScaling,
    Ec2,
}

impl Service {
    /// What it is called in signatures, in rights and in its address.
    fn name(self) -> &'static str {
        match self {
            Service::AutoScaling => "autoscaling",
            Service::Ec2 => "ec2",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Service::AutoScaling => "2011-01-01",
            Service::Ec2 => "2016-11-15",
        }
    }

    /// The variable of the environment that says where it is, the same for all AWS programs.
    fn endpoint_variable(self) -> &'static str {
        match self {
            Service::AutoScaling => "AWS_ENDPOINT_URL_AUTO_SCALING",
            Service::Ec2 => "AWS_ENDPOINT_URL_EC2",
        }
    }

    fn public_endpoint(self, region: &str) -> String {
        let suffix = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        format!("https://{}.{region}.{suffix}/", self.name())
    }
}

/// One call of an API.
#[derive(Clone, Debug)]
pub(super) struct Call {
    service: Service,
    action: &'static str,
    parameters: Vec<(String, String)>,
}

impl Call {
    pub(super) fn auto_scaling(action: &'static str) -> Self {
        Call { service: Service::AutoScaling, action, parameters: Vec::new() }
    }

    pub(super) fn ec2(action: &'static str) -> Self {
        Call { service: Service::Ec2, action, parameters: Vec::new() }
    }

    pub(super) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// A list, in the form that the API has for these.
    pub(super) fn with_all<'v>(mut self, name: &str, values: impl IntoIterator<Item = &'v str>) -> Self {
        let member = match self.service {
            Service::AutoScaling => ".member",
            Service::Ec2 => "",
        };
        let numbered = (1..).zip(values).map(|(number, value)| (format!("{name}{member}.{number}"), value.to_owned()));
        self.parameters.extend(numbered);
        self
    }

    /// Whether it may change anything. Every action that only reads is called so in both APIs.
    fn changes(&self) -> bool {
        !self.action.starts_with("Describe")
    }

    /// What the right to it is called.
    fn right(&self) -> String {
        format!("{}:{}", self.service.name(), self.action)
    }
}

/// An answer that may go on.
pub(super) trait Page: DeserializeOwned + Send {
    /// Where the next page begins, and how this is asked for.
    fn next(&self) -> Option<&str>;
}

/// A client for one account and region.
#[derive(Clone, Debug)]
pub(super) struct Client {
    identity: Arc<Identity>,
    wire: Wire,
}

impl Client {
    /// Nothing is asked for before the first call.
    pub(super) fn new(account: Account, fence: Fence) -> Self {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        // It fails only where the trusted certificates of the machine cannot be read; then so does every call.
        Client { identity: Arc::new(Identity::new(account)), wire: Wire::new(http.unwrap_or_default(), fence) }
    }

    /// The region that it asks.
    pub(super) async fn region(&self) -> Result<&str, AwsError> {
        self.identity.region().await
    }

    /// Calls, and tries again what was not done and may be, as long as there is time for it.
    pub(super) async fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T, AwsError> {
        let (start, mut backoff, mut renewed) = (Instant::now(), BACKOFF, false);
        loop {
            let left = BUDGET.saturating_sub(start.elapsed()).max(SHORTEST);
            let error = match self.attempt(call, ATTEMPT.min(left)).await {
                Ok(text) => return read(call, &text),
                Err(Failed { error, fresh }) => {
                    if fresh && !renewed {
                        renewed = true;
                        continue;
                    }
                    error
                }
            };
            // What was sent may have been done, unless AWS says that it was not.
            let again = match error.kind() {
                Some(Kind::Throttled) => true,
                Some(Kind::Broken) => !call.changes(),
                None => !call.changes() && matches!(error, AwsError::Transport { .. } | AwsError::Timeout { .. }),
                _ => false,
            };
            let wait = match &error {
                AwsError::Refused { retry_after: Some(wait), .. } => *wait,
                _ => jittered(backoff),
            };
            if !again || start.elapsed() + wait + SHORTEST > BUDGET {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            backoff *= 2;
        }
    }

    /// Calls until the last page.
    pub(super) async fn pages<T: Page>(&self, call: &Call) -> Result<Vec<T>, AwsError> {
        let mut pages: Vec<T> = Vec::new();
        loop {
            let next = pages.last().and_then(Page::next);
            if pages.is_empty() || next.is_some() {
                let call = next.into_iter().fold(call.clone(), |call, token| call.with("NextToken", token));
                pages.push(self.call(&call).await?);
            } else {
                return Ok(pages);
            }
        }
    }

    async fn attempt(&self, call: &Call, at_most: Duration) -> Result<String, Failed> {
        let credentials = self.identity.credentials().await?;
        let region = self.identity.region().await?;
        let endpoint = self.identity.endpoint(call.service).await?;
        let (request, body) = sign::request(call, &endpoint, region, &credentials)?;
        let answer = async {
            let answer = self.wire.send(request, body, call.changes()).await?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            Ok::<_, reqwest::Error>((status, headers, limited(answer).await?))
        };
        let action = call.right();
        let (status, headers, body) = match tokio::time::timeout(at_most, answer).await {
            Err(_) => return Err(AwsError::Timeout { action, seconds: at_most.as_secs() }.into()),
            Ok(Err(error)) if is_fenced(&error) => return Err(AwsError::Fenced.into()),
            Ok(Err(error)) => return Err(AwsError::Transport { action, source: Box::new(error.without_url()) }.into()),
            Ok(Ok(answer)) => answer,
        };
        let text = String::from_utf8_lossy(&body).into_owned();
        if status.is_success() {
            return Ok(text);
        }
        let seconds = headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let error = AwsError::in_answer(action, status.as_u16(), seconds.map(Duration::from_secs), &text);
        let fresh = error.kind() == Some(Kind::Unauthorized) && self.identity.refused(&credentials).await;
        Err(Failed { error, fresh })
    }
}

/// An attempt that did not work.
struct Failed {
    error: AwsError,
    /// Other credentials may be had than those that were not accepted.
    fresh: bool,
}

impl From<AwsError> for Failed {
    fn from(error: AwsError) -> Self {
        Failed { error, fresh: false }
    }
}

fn read<T: DeserializeOwned>(call: &Call, text: &str) -> Result<T, AwsError> {
    quick_xml::de::from_str(text).map_err(|source| AwsError::Garbage { action: call.right(), source: Box::new(source) })
}

/// The body of an answer; what is beyond the limit is left, so that the rest cannot be understood.
async fn limited(mut answer: reqwest::Response) -> Result<Bytes, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST {
            body.truncate(LARGEST);
            break;
        }
    }
    Ok(body.into())
}

/// Between half and all of it, so that instances that were refused together do not come back together.
fn jittered(wait: Duration) -> Duration {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    wait / 2 + wait.mul_f64(f64::from(nanos % 1_000_000) / 2_000_000.0)
}
