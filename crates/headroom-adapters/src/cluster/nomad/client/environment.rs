//! Where a Nomad cluster is and who asks: what the configuration and the environment say, as Nomad's own command line reads
//! it.

use std::fmt;
use std::path::PathBuf;

use reqwest::Url;

/// What Nomad's own programs take when nobody says anything.
const ADDRESS: &str = "http://127.0.0.1:4646";

/// How a Nomad cluster is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its HTTP API.
    pub(super) address: Address,
    /// Another region than that of the agent that answers.
    pub(super) region: Option<String>,
    /// Where Headroom keeps what it remembers. What it reads is of all namespaces.
    pub(super) namespace: Option<String>,
    /// Of the ACL system.
    pub(super) token: Option<Secret>,
    /// `user:password` of a proxy before the API.
    pub(super) http_auth: Option<Secret>,
    pub(super) tls: Tls,
}

/// Where an API listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) url: Url,
    /// Reached through a socket in the file system.
    pub(super) socket: Option<PathBuf>,
}

/// How the other side is known, and how it knows this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) ca_cert: Option<PathBuf>,
    /// A folder of certificates.
    pub(super) ca_path: Option<PathBuf>,
    pub(super) client_cert: Option<PathBuf>,
    pub(super) client_key: Option<PathBuf>,
    /// The name in the certificate of the other side, where it is not that of the address.
    pub(super) server_name: Option<String>,
    pub(super) skip_verify: bool,
}

/// What nobody may read in a log.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    /// The secret itself: for a header and nothing else.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Why it is not known how a cluster is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The address is none.
    #[error("{address} is no address of Nomad; hint: write it like http://127.0.0.1:4646 or unix:///path/to/socket")]
    Address {
        /// As it is written, without a password.
        address: String,
    },
    /// A switch is neither on nor off.
    #[error("{name} is {value:?}; hint: write true or false")]
    Switch {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// One of a pair is missing.
    #[error("NOMAD_CLIENT_CERT and NOMAD_CLIENT_KEY belong together; hint: set both or none")]
    HalfIdentity,
    /// A name was expected.
    #[error(
        "NOMAD_TLS_SERVER_NAME is {name:?}; hint: write the name in the server's certificate, such as server.global.nomad"
    )]
    ServerName {
        /// Its value.
        name: String,
    },
}

impl Access {
    /// What the configuration says, and else the environment: every `NOMAD_…` variable of Nomad's own command line.
    pub fn new(
        address: Option<&str>,
        region: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, AccessError> {
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let path = |name| variable(name).map(PathBuf::from);
        let address = address.map(str::to_owned).or_else(|| variable("NOMAD_ADDR"));
        let tls = Tls {
            ca_cert: path("NOMAD_CACERT"),
            ca_path: path("NOMAD_CAPATH"),
            client_cert: path("NOMAD_CLIENT_CERT"),
            client_key: path("NOMAD_CLIENT_KEY"),
            server_name: variable("NOMAD_TLS_SERVER_NAME"),
            skip_verify: match variable("NOMAD_SKIP_VERIFY") {
                None => false,
                Some(value) => switch("NOMAD_SKIP_VERIFY", value)?,
            },
        };
        if tls.client_cert.is_some() != tls.client_key.is_some() {
            return Err(AccessError::HalfIdentity);
        }
        if let Some(name) = tls.server_name.as_ref().filter(|name| !is_host_name(name)) {
            return Err(AccessError::ServerName { name: name.clone() });
        }
        Ok(Access {
            address: Address::parse(address.as_deref().unwrap_or(ADDRESS))?,
            region: region.map(str::to_owned).or_else(|| variable("NOMAD_REGION")),
            namespace: variable("NOMAD_NAMESPACE"),
            token: variable("NOMAD_TOKEN").map(Secret),
            http_auth: variable("NOMAD_HTTP_AUTH").map(Secret),
            tls,
        })
    }
}

impl Address {
    fn parse(text: &str) -> Result<Self, AccessError> {
        let socket = text.strip_prefix("unix://").filter(|path| path.starts_with('/'));
        // What a request through a socket says that it is for means nothing.
        let url = Url::parse(if socket.is_some() { "http://localhost" } else { text }).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| {
            // What is before an @ may be a password.
            let address = text.rsplit_once('@').map_or(text, |(_, rest)| rest).to_owned();
            AccessError::Address { address }
        })?;
        Ok(Address { url, socket: socket.map(PathBuf::from) })
    }
}

impl fmt::Display for Access {
    /// Where the cluster is, without anything that is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address { socket: Some(path), .. } => write!(f, "unix://{}", path.display()),
            Address { url, .. } => f.write_str(&url.origin().ascii_serialization()),
        }
    }
}

/// As Go reads it, which is what Nomad's own programs are written in.
fn switch(name: &'static str, value: String) -> Result<bool, AccessError> {
    match &*value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(AccessError::Switch { name, value }),
    }
}

/// Whether it is a name and no address: addresses are not looked up.
fn is_host_name(name: &str) -> bool {
    name.parse::<std::net::IpAddr>().is_err()
        && Url::parse(&format!("https://{name}")).is_ok_and(|url| url.host_str() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: Option<&str>, environment: &[(&str, &str)]) -> Result<Access, AccessError> {
        let find =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Access::new(address, None, find)
    }

    #[test]
    fn the_configuration_goes_before_the_environment_and_that_before_the_default() {
        let shown = |address, environment: &[_]| access(address, environment).map(|access| access.to_string());
        assert_eq!(shown(None, &[]).as_deref(), Ok("http://127.0.0.1:4646"));
        assert_eq!(shown(None, &[("NOMAD_ADDR", "https://nomad:4646")]).as_deref(), Ok("https://nomad:4646"));
        let both = shown(Some("unix:///run/nomad.sock"), &[("NOMAD_ADDR", "https://nomad:4646")]);
        assert_eq!(both.as_deref(), Ok("unix:///run/nomad.sock"));
    }

    #[test]
    fn every_variable_is_read_and_no_secret_is_shown() {
        let access = access(
            None,
            &[
                ("NOMAD_REGION", "eu"),
                ("NOMAD_NAMESPACE", "ops"),
                ("NOMAD_TOKEN", "5e12-token"),
                ("NOMAD_HTTP_AUTH", "me:5e12-password"),
                ("NOMAD_CACERT", "/ca.pem"),
                ("NOMAD_CAPATH", "/cas"),
                ("NOMAD_CLIENT_CERT", "/cert.pem"),
                ("NOMAD_CLIENT_KEY", "/key.pem"),
                ("NOMAD_TLS_SERVER_NAME", "server.global.nomad"),
                ("NOMAD_SKIP_VERIFY", "1"),
            ],
        );
        let access = access.unwrap();
        assert!(!format!("{access:?}").contains("5e12"), "{access:?}");
        assert_eq!(access.token.as_ref().map(Secret::reveal), Some("5e12-token"));
        assert_eq!(access.http_auth.as_ref().map(Secret::reveal), Some("me:5e12-password"));
        assert_eq!((access.region.as_deref(), access.namespace.as_deref()), (Some("eu"), Some("ops")));
        let expected = Tls {
            ca_cert: Some("/ca.pem".into()),
            ca_path: Some("/cas".into()),
            client_cert: Some("/cert.pem".into()),
            client_key: Some("/key.pem".into()),
            server_name: Some("server.global.nomad".into()),
            skip_verify: true,
        };
        assert_eq!(access.tls, expected);
    }

    #[test]
    fn what_makes_no_sense_is_said_before_anything_is_sent() {
        let wrong = |environment: &[_]| access(None, environment).unwrap_err().to_string();
        let address = wrong(&[("NOMAD_ADDR", "me:5e12@nomad")]);
        assert!(address.starts_with("nomad is no address of Nomad; hint: "), "{address}");
        assert_eq!(wrong(&[("NOMAD_SKIP_VERIFY", "yes")]), r#"NOMAD_SKIP_VERIFY is "yes"; hint: write true or false"#);
        let half = wrong(&[("NOMAD_CLIENT_CERT", "/cert.pem")]);
        assert_eq!(half, "NOMAD_CLIENT_CERT and NOMAD_CLIENT_KEY belong together; hint: set both or none");
        assert!(wrong(&[("NOMAD_TLS_SERVER_NAME", "10.0.0.1")]).contains("hint: write the name"));
    }
}
