//! The way to an API server: straight, or through a proxy.

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use kube::Config;
use tower::util::{Either, MapErr};
use tower::{BoxError, Service, ServiceExt};

use super::client::ConnectError;

/// Where kube takes a proxy from when the kubeconfig names none.
const VARIABLES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

type Failing<S> = MapErr<S, fn(<S as Service<Uri>>::Error) -> BoxError>;

/// Connects to the API server of `config` as kubectl does: through the proxy that its kubeconfig names, or else through
/// that of the environment unless `NO_PROXY` names the server.
pub(super) fn way(
    config: &Config,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Either<Failing<HttpConnector>, Failing<Tunnel<HttpConnector>>>, ConnectError> {
    let mut straight = HttpConnector::new();
    // It carries TLS.
    straight.enforce_http(false);
    let Some(proxy) = proxy(config, environment) else {
        return Ok(Either::Left(straight.map_err(BoxError::from)));
    };
    if proxy.uri().scheme_str() != Some("http") {
        let uri = proxy.uri();
        let host = uri.host().unwrap_or_default();
        return Err(ConnectError::Proxy { proxy: format!("{}://{host}", uri.scheme_str().unwrap_or_default()) });
    }
    let mut tunnel = Tunnel::new(proxy.uri().clone(), straight);
    if let Some(password) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(password.clone());
    }
    Ok(Either::Right(tunnel.map_err(BoxError::from)))
}

fn proxy(config: &Config, environment: impl Fn(&str) -> Option<String>) -> Option<Intercept> {
    let proxy = config.proxy_url.as_ref()?.to_string();
    let mut of_environment = VARIABLES.iter().filter_map(|name| environment(name));
    let is_same = |text: String| text.parse::<Uri>().is_ok_and(|uri| uri.to_string() == proxy);
    let mut matcher = Matcher::builder().all(proxy.as_str());
    if of_environment.any(is_same) {
        matcher = matcher.no(environment("NO_PROXY").or_else(|| environment("no_proxy")).unwrap_or_default());
    }
    matcher.build().intercept(&config.cluster_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(proxy: &str, no_proxy: &str, in_environment: bool) -> Option<String> {
        let mut config = Config::new("https://10.0.0.1:6443".parse().unwrap());
        config.proxy_url = Some(proxy.parse().unwrap());
        let environment = |name: &str| match name {
            "https_proxy" => in_environment.then(|| proxy.to_owned()),
            "NO_PROXY" => Some(no_proxy.to_owned()),
            _ => None,
        };
        super::proxy(&config, environment).map(|proxy| proxy.uri().to_string())
    }

    #[test]
    fn the_proxy_of_the_environment_is_not_for_what_no_proxy_names() {
        let proxy = "http://proxy.corp:3128";
        assert_eq!(through(proxy, "", true).as_deref(), Some("http://proxy.corp:3128/"));
        assert_eq!(through(proxy, "localhost,10.0.0.0/8", true), None);
        assert_eq!(through(proxy, "localhost,10.0.0.0/8", false).as_deref(), Some("http://proxy.corp:3128/"));
    }

    #[test]
    fn what_is_no_proxy_that_can_be_used_is_named_without_its_password() {
        let mut config = Config::new("https://10.0.0.1:6443".parse().unwrap());
        config.proxy_url = Some("socks5://me:secret@proxy.corp:1080".parse().unwrap());
        let error = way(&config, |_| None).err().unwrap().to_string();
        assert!(error.starts_with("the proxy socks5://proxy.corp cannot be used; hint: "), "{error}");
    }
}
