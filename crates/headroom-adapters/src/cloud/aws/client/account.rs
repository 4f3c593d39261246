//! Who asks, and where.

use std::fmt;
use std::time::{Duration, SystemTime};

use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::{Mutex, OnceCell};

use super::Service;
use super::failure::AwsError;

/// Credentials are fetched anew so long before they end.
const AHEAD: Duration = Duration::from_secs(300);
/// Credentials that never end are fetched anew so often, since somebody may have replaced them.
const AT_LEAST: Duration = Duration::from_secs(600);
/// How long the chain may look for credentials.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long it may look while there are some that hold: a call that could be made with these must not fail for it.
const PATIENCE_TO_RENEW: Duration = Duration::from_secs(2);
/// How long it is left alone when it could not renew credentials that hold.
const PAUSE: Duration = Duration::from_secs(30);
/// What the sessions of an assumed role are called.
const SESSION: &str = "headroom";

/// Which account a client acts in, and which region.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// The region; None is the one of the environment, the profile or the instance's metadata.
    pub region: Option<Box<str>>,
    /// The ARN of a role that is assumed with the credentials of the chain.
    pub role: Option<Box<str>>,
    /// Where both APIs are; None is where the environment says, or else where AWS has them.
    pub endpoint: Option<Box<str>>,
    /// Credentials that never end; None is what the chain finds.
    pub key: Option<Key>,
}

/// An access key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its id, which is no secret.
    pub id: Box<str>,
    /// Its secret.
    pub secret: Box<str>,
    /// The token that comes with it, where it was lent.
    pub session_token: Option<Box<str>>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Finds credentials, region and endpoints by the chain that all AWS programs have: environment, web identity, profile,
/// container credentials, instance metadata.
#[derive(Debug)]
pub(super) struct Identity {
    account: Account,
    found: OnceCell<Found>,
    kept: Mutex<Option<Kept>>,
}

/// Credentials that are used again.
#[derive(Debug)]
struct Kept {
    credentials: Credentials,
    fetched: SystemTime,
    /// When they could not be renewed the last time.
    failed: Option<SystemTime>,
}

struct Found {
    region: String,
    config: SdkConfig,
    provider: SharedCredentialsProvider,
}

/// The configuration shows whole profiles, with the secrets in them.
impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("region", &self.region).finish_non_exhaustive()
    }
}

impl Identity {
    pub(super) fn new(account: Account) -> Self {
        Identity { account, found: OnceCell::new(), kept: Mutex::new(None) }
    }

    /// The region.
    pub(super) async fn region(&self) -> Result<&str, AwsError> {
        Ok(&self.found().await?.region)
    }

    /// Where a service is.
    pub(super) async fn endpoint(&self, service: Service) -> Result<String, AwsError> {
        if let Some(endpoint) = &self.account.endpoint {
            return Ok(endpoint.to_string());
        }
        let found = self.found().await?;
        let of_service = std::env::var(service.endpoint_variable()).ok().filter(|url| !url.is_empty());
        let stated = of_service.or_else(|| found.config.endpoint_url().map(str::to_owned));
        Ok(stated.unwrap_or_else(|| service.public_endpoint(&found.region)))
    }

    /// Credentials that hold. Those at hand are used until their end while no others can be had.
    pub(super) async fn credentials(&self) -> Result<Credentials, AwsError> {
        self.credentials_at(SystemTime::now()).await
    }

    async fn credentials_at(&self, now: SystemTime) -> Result<Credentials, AwsError> {
        let mut kept = self.kept.lock().await;
        let held = kept.as_ref().filter(|kept| kept.holds(now));
        if let Some(held) = held
            && !held.is_due(now)
        {
            return Ok(held.credentials.clone());
        }
        let patience = if held.is_some() { PATIENCE_TO_RENEW } else { PATIENCE };
        let error = match self.fetch(patience).await {
            Ok(credentials) => {
                *kept = Some(Kept { credentials: credentials.clone(), fetched: now, failed: None });
                return Ok(credentials);
            }
            Err(error) => error,
        };
        let Some(held) = kept.as_mut().filter(|kept| kept.holds(now)) else { return Err(error) };
        let left = held.credentials.expiry().map(|end| end.duration_since(now).unwrap_or_default().as_secs());
        tracing::warn!(%error, seconds_left = left, "AWS credentials are not renewed; those at hand are used");
        held.failed = Some(now);
        Ok(held.credentials.clone())
    }

    async fn fetch(&self, patience: Duration) -> Result<Credentials, AwsError> {
        let provider = &self.found().await?.provider;
        let reason = |reason: String| AwsError::NoCredentials { reason };
        match tokio::time::timeout(patience, provider.provide_credentials()).await {
            Ok(credentials) => credentials.map_err(|error| reason(causes(&error))),
            Err(_) => Err(reason(format!("none came within {} s", patience.as_secs()))),
        }
    }

    /// Forgets these credentials, which AWS did not accept. Whether that could help: others may be had.
    pub(super) async fn refused(&self, credentials: &Credentials) -> bool {
        let mut kept = self.kept.lock().await;
        match &*kept {
            Some(Kept { credentials: same, .. }) if same == credentials => {
                *kept = None;
                true
            }
            Some(_) => true,
            None => false,
        }
    }

    async fn found(&self) -> Result<&Found, AwsError> {
        self.found.get_or_try_init(|| self.find()).await
    }

    async fn find(&self) -> Result<Found, AwsError> {
        let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12());
        if let Some(region) = &self.account.region {
            loader = loader.region(Region::new(region.to_string()));
        }
        if let Some(Key { id, secret, session_token }) = &self.account.key {
            let token = session_token.as_ref().map(ToString::to_string);
            loader = loader.credentials_provider(Credentials::new(&**id, &**secret, token, None, "key"));
        }
        let config = loader.load().await;
        let region = config.region().ok_or(AwsError::NoRegion)?.as_ref().to_owned();
        let none = || AwsError::NoCredentials { reason: "the chain of providers is empty".to_owned() };
        let provider = match &self.account.role {
            None => config.credentials_provider().ok_or_else(none)?,
            Some(role) => {
                let role = AssumeRoleProvider::builder(role.to_string()).session_name(SESSION).configure(&config);
                SharedCredentialsProvider::new(role.build().await)
            }
        };
        Ok(Found { region, config, provider })
    }
}

impl Kept {
    /// Whether AWS should still accept them.
    fn holds(&self, now: SystemTime) -> bool {
        self.credentials.expiry().is_none_or(|end| now < end)
    }

    /// Whether it is time to fetch others.
    fn is_due(&self, now: SystemTime) -> bool {
        let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
        let ends_soon = self.credentials.expiry().is_none_or(|end| end <= now + AHEAD);
        // Right after they were fetched, nothing that lasts longer could be had.
        ends_soon && passed(self.fetched) >= AT_LEAST && self.failed.is_none_or(|at| passed(at) >= PAUSE)
    }
}

/// The error and what it comes of, without what it was made of: that could hold parts of credentials.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let chain: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    chain.join(": ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_credential_types::provider::ProvideCredentials;
    use aws_credential_types::provider::error::CredentialsError;
    use aws_credential_types::provider::future::ProvideCredentials as Answer;

    use super::*;

    fn at(minutes: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minutes)
    }

    fn key(id: &str, end: Option<SystemTime>) -> Credentials {
        Credentials::new(id, "secret", None, end, "test")
    }

    #[test]
    fn credentials_are_renewed_before_they_end() {
        let kept = |end, fetched| Kept { credentials: key("id", end), fetched: at(fetched), failed: None };
        let good = |end, fetched, now| {
            let kept = kept(end, fetched);
            kept.holds(at(now)) && !kept.is_due(at(now))
        };
        assert!(good(Some(at(60)), 0, 54), "more than five minutes are left");
        assert!(!good(Some(at(60)), 0, 55));
        assert!(good(Some(at(60)), 58, 59), "nothing that lasts longer could be had just now");
        assert!(!good(Some(at(60)), 58, 60), "they have ended");
        assert!(good(None, 0, 9), "those without an end are looked at again");
        assert!(!good(None, 0, 10));
    }

    /// Gives the first key, and then what the test wants.
    #[derive(Clone, Debug)]
    struct Script {
        asked: Arc<AtomicUsize>,
        first: Credentials,
        then: fn() -> Answer<'static>,
    }

    impl ProvideCredentials for Script {
        fn provide_credentials<'a>(&'a self) -> Answer<'a>
        where
            Self: 'a,
        {
            match self.asked.fetch_add(1, Ordering::Relaxed) {
                0 => Answer::ready(Ok(self.first.clone())),
                _ => (self.then)(),
            }
        }
    }

    /// Who has a key until the given minute, and how often another one was asked for.
    fn identity(end: Option<u64>, then: fn() -> Answer<'static>) -> (Identity, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let script = Script { asked: Arc::clone(&asked), first: key("first", end.map(at)), then };
        let found = Found {
            region: "eu-west-1".to_owned(),
            config: SdkConfig::builder().build(),
            provider: SharedCredentialsProvider::new(script),
        };
        (Identity { account: Account::default(), found: OnceCell::from(found), kept: Mutex::new(None) }, asked)
    }

    fn refused() -> Answer<'static> {
        Answer::ready(Err(CredentialsError::provider_error("the endpoint is gone")))
    }

    /// The keys that are used in these minutes, or why there is none.
    async fn used(identity: &Identity, minutes: &[u64]) -> Vec<String> {
        let mut used = Vec::new();
        for now in minutes {
            used.push(match identity.credentials_at(at(*now)).await {
                Ok(credentials) => credentials.access_key_id().to_owned(),
                Err(error) => error.to_string(),
            });
        }
        used
    }

    #[tokio::test]
    async fn credentials_that_hold_are_used_while_they_cannot_be_renewed() {
        let (identity, asked) = identity(Some(60), refused);
        let none = "there are no credentials: an error occurred while loading credentials: the endpoint is gone";
        assert_eq!(
            used(&identity, &[0, 54, 55, 56, 59, 60]).await,
            ["first", "first", "first", "first", "first", none]
        );
        assert_eq!(asked.load(Ordering::Relaxed), 5, "once, and then in each of the last minutes");
    }

    #[tokio::test]
    async fn who_cannot_renew_them_is_left_alone_for_a_while() {
        let (identity, asked) = identity(Some(60), refused);
        used(&identity, &[0, 55, 55, 55]).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn what_is_renewed_at_last_is_used() {
        let (identity, _) = identity(Some(60), || Answer::ready(Ok(key("second", Some(at(120))))));
        assert_eq!(used(&identity, &[0, 54, 55, 70]).await, ["first", "first", "second", "second"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_does_not_wait_long_for_what_it_can_do_without() {
        let (identity, _) = identity(Some(60), || Answer::new(std::future::pending()));
        used(&identity, &[0]).await;
        let begin = tokio::time::Instant::now();
        assert_eq!(used(&identity, &[56]).await, ["first"]);
        assert_eq!(begin.elapsed(), PATIENCE_TO_RENEW);
        assert_eq!(used(&identity, &[60]).await, ["there are no credentials: none came within 8 s"]);
    }

    #[tokio::test]
    async fn credentials_without_an_end_are_used_while_no_others_can_be_had() {
        let (identity, asked) = identity(None, refused);
        assert_eq!(used(&identity, &[0, 9, 10, 500]).await, ["first"; 4]);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn those_that_aws_refuses_are_not_used_again() {
        let (identity, _) = identity(Some(60), refused);
        let first = identity.credentials_at(at(0)).await.unwrap();
        assert!(identity.refused(&first).await);
        assert!(identity.credentials_at(at(1)).await.is_err());
    }
}
