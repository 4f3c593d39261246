//! Who may speak with whom.

use std::net::SocketAddr;
use std::time::Duration;

use headroom_adapters::cloud::externalgrpc::server::{Prices, Provider, ServeError, ServerTls, serve};
use headroom_adapters::cloud::externalgrpc::{ExternalGroup, ExternalGrpc, Reach, Tls};
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::fence::Fence;
use serde_json::json;
use tokio::sync::oneshot;

use super::peer::{self, Peer, file, tls_as};

fn server_tls() -> ServerTls {
    ServerTls { certificate: file("provider.pem"), key: file("provider.key"), ca: file("ca.pem") }
}

/// A server without groups that answers nobody without a certificate, and what ends it.
async fn serving() -> (String, oneshot::Sender<()>) {
    let (told, address) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    tokio::spawn(async move {
        let listening = move |address: SocketAddr| told.send(address).unwrap();
        let end = async move { drop(ended.await) };
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        serve(Provider::new(Vec::new(), Prices::default()), local, Some(server_tls()), listening, end).await.unwrap();
    });
    (format!("localhost:{}", address.await.unwrap().port()), end)
}

fn cloud(address: &str, tls: Option<Tls>) -> ExternalGrpc {
    let reach = Reach { address: address.into(), tls, deadline: Duration::from_secs(5) };
    ExternalGrpc::new(reach, Vec::<ExternalGroup>::new(), Fence::open())
}

#[tokio::test]
async fn only_clients_with_a_certificate_are_answered() {
    let (address, end) = serving().await;
    assert!(cloud(&address, Some(tls_as("client"))).groups().await.is_ok());
    let unknown = [Some(tls_as("stranger")), Some(Tls { own: None, ..tls_as("client") }), None];
    for tls in unknown {
        let refused = cloud(&address, tls.clone()).groups().await;
        assert!(matches!(refused, Err(CloudError::Unreachable(_))), "{tls:?}: {refused:?}");
    }
    if let Some(program) = peer::program() {
        let known = peer::call(&program, &address, "NodeGroups", &json!({}), &peer::as_whom("client")).await;
        assert_eq!(known, Ok(json!({})));
        for more in [peer::as_whom("stranger"), Vec::new()] {
            let refused = peer::call(&program, &address, "NodeGroups", &json!({}), &more).await.unwrap_err();
            assert!(refused.contains("Unavailable"), "{refused}");
        }
    }
    end.send(()).unwrap();
}

#[tokio::test]
async fn a_provider_in_go_is_known_by_its_certificate() {
    let Some(program) = peer::program() else { return };
    let as_provider = peer::as_whom("provider");
    let peer = Peer::serve(&program, &as_provider.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(peer.cloud(Some(tls_as("client"))).groups().await.unwrap().len(), 1);
    // One that somebody else has signed is not spoken with, and none is spoken with that shows none.
    let others = Tls { ca: file("stranger.pem"), ..tls_as("client") };
    for tls in [Some(others), Some(tls_as("stranger")), None] {
        let refused = peer.cloud(tls.clone()).groups().await;
        assert!(matches!(refused, Err(CloudError::Unreachable(_))), "{tls:?}: {refused:?}");
    }
}

#[tokio::test]
async fn beyond_this_machine_a_certificate_is_needed() {
    let anywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused =
        serve(Provider::new(Vec::new(), Prices::default()), anywhere, None, |_| (), async {}).await.unwrap_err();
    assert!(matches!(refused, ServeError::Open(address) if address == anywhere), "{refused:?}");
    assert!(refused.to_string().contains("hint: give --cert, --key and --cacert"), "{refused}");
}

#[tokio::test]
async fn renewed_certificates_are_read_and_no_key_is_shown() {
    let (address, end) = serving().await;
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("client.pem"), folder.path().join("client.key"));
    let become_ = |name: &str| {
        std::fs::copy(file(&format!("{name}.pem")), &certificate).unwrap();
        std::fs::copy(file(&format!("{name}.key")), &key).unwrap();
    };
    become_("stranger");
    let cloud = cloud(&address, Some(Tls { ca: file("ca.pem"), own: Some((certificate.clone(), key.clone())) }));
    let refused = cloud.groups().await.unwrap_err();
    let secret = std::fs::read_to_string(file("stranger.key")).unwrap();
    let secret = secret.lines().nth(1).unwrap();
    assert!(!format!("{refused:?} {cloud:?}").contains(secret));
    become_("client");
    cloud.groups().await.unwrap();
    std::fs::write(&key, "no key").unwrap();
    let unusable = Tls { ca: file("ca.pem"), own: Some((certificate.clone(), key.clone())) };
    let refused = super::tls::cloud(&address, Some(unusable)).groups().await.unwrap_err();
    let reason = std::error::Error::source(&refused).unwrap().to_string();
    assert!(reason.contains("must be in PEM"), "{reason}");
    let missing = Tls { ca: folder.path().join("none.pem"), own: None };
    let refused = super::tls::cloud(&address, Some(missing)).groups().await.unwrap_err();
    let reason = std::error::Error::source(&refused).unwrap().to_string();
    assert!(reason.contains("none.pem cannot be read; hint: "), "{reason}");
    end.send(()).unwrap();
}
