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
    credentials: Mutex<Option<(Credentials, SystemTime)>>,
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
        Identity { account, found: OnceCell::new(), credentials: Mutex::new(None) }
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

    /// Credentials that hold for a while.
    pub(super) async fn credentials(&self) -> Result<Credentials, AwsError> {
        let mut kept = self.credentials.lock().await;
        if let Some((credentials, fetched)) = &*kept
            && is_good(credentials, *fetched, SystemTime::now())
        {
            return Ok(credentials.clone());
        }
        let provider = &self.found().await?.provider;
        let fetched = tokio::time::timeout(PATIENCE, provider.provide_credentials()).await;
        let reason = |reason: String| AwsError::NoCredentials { reason };
        let credentials = match fetched {
            Ok(credentials) => credentials.map_err(|error| reason(causes(&error)))?,
            Err(_) => return Err(reason(format!("none came within {} s", PATIENCE.as_secs()))),
        };
        *kept = Some((credentials.clone(), SystemTime::now()));
        Ok(credentials)
    }

    /// Forgets these credentials, which AWS did not accept. Whether that could help: others may be had.
    pub(super) async fn refused(&self, credentials: &Credentials) -> bool {
        let mut kept = self.credentials.lock().await;
        match &*kept {
            Some((same, _)) if same == credentials => {
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

/// Whether credentials that were fetched then need not be fetched anew.
fn is_good(credentials: &Credentials, fetched: SystemTime, now: SystemTime) -> bool {
    let old = now.duration_since(fetched).unwrap_or_default() >= AT_LEAST;
    match credentials.expiry() {
        Some(end) => now + AHEAD < end || (!old && now < end),
        None => !old,
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
    use super::*;

    #[test]
    fn credentials_are_renewed_before_they_end() {
        let at = |minutes: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minutes);
        let until = |end| Credentials::new("id", "secret", None, end, "test");
        let good = |end, fetched, now| is_good(&until(end), at(fetched), at(now));
        assert!(good(Some(at(60)), 0, 54), "more than five minutes are left");
        assert!(!good(Some(at(60)), 0, 55));
        assert!(good(Some(at(60)), 58, 59), "nothing that lasts longer could be had just now");
        assert!(!good(Some(at(60)), 58, 60), "they have ended");
        assert!(good(None, 0, 9), "those without an end are looked at again");
        assert!(!good(None, 0, 10));
    }
}
