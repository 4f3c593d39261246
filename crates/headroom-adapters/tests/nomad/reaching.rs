//! The ways to a Nomad: over TLS, and through a socket in the file system.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fake_nomad::{Face, Failing, Fake, NodeSpec, Token};
use headroom_adapters::cluster::nomad::client::{Access, CallError, Client, ConnectError};
use headroom_adapters::cluster::nomad::{node_of, readable};
use headroom_adapters::fence::Fence;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio_rustls::TlsAcceptor;

use super::FACES;

/// In PEM: `ca.pem` has signed `provider` and `client`, and not `stranger`. All are of localhost and 127.0.0.1.
fn file(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/externalgrpc/certificates")).join(name)
}

fn client(address: &str, environment: &[(&str, &Path)]) -> Result<Client, ConnectError> {
    let variable = |name: &str| {
        let value = environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_path_buf());
        value.map(|value| value.into_os_string().into_string().expect("text"))
    };
    let access = Access::new(Some(address), None, variable).expect("an address");
    Client::new(&access, Fence::open())
}

/// Whether it is answered.
async fn answers(address: &str, environment: &[(&str, &Path)]) -> Result<(), CallError> {
    let client = client(address, environment).expect("a client");
    client.nodes().await.map(drop)
}

async fn pass_on(mut from: impl AsyncRead + AsyncWrite + Unpin, to: &str) {
    if let Ok(mut to) = TcpStream::connect(to.trim_start_matches("http://")).await {
        // Whoever ends it ends it.
        let _ = copy_bidirectional(&mut from, &mut to).await;
    }
}

/// A way to `fake` that speaks TLS at this address of loopback, with those alone who show a certificate.
async fn tls(fake: &Fake, address: &str) -> String {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut known = RootCertStore::empty();
    known.add(CertificateDer::from_pem_file(file("ca.pem")).expect("a certificate")).expect("it is one");
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(known), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = config.with_client_cert_verifier(clients.build().expect("roots"));
    let own = vec![CertificateDer::from_pem_file(file("provider.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(file("provider.key")).expect("a key");
    let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(own, key).expect("they belong together")));
    let listener = TcpListener::bind((address, 0)).await.expect("a port");
    let (port, to) = (listener.local_addr().expect("an address").port(), fake.url());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, to) = (acceptor.clone(), to.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    pass_on(stream, &to).await;
                }
            });
        }
    });
    format!("https://{address}:{port}")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_side_knows_the_other_by_its_certificate() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let address = tls(&fake, "127.0.0.1").await;
    let files = ["ca.pem", "client.pem", "client.key", "stranger.pem", "stranger.key"].map(file);
    let [ca, cert, key, strange_cert, strange_key] = files.each_ref().map(PathBuf::as_path);
    let own = [("NOMAD_CLIENT_CERT", cert), ("NOMAD_CLIENT_KEY", key)];
    answers(&address, &[[("NOMAD_CACERT", ca)].as_slice(), &own].concat()).await.expect("each knows the other");
    let refused: [(&str, Vec<(&str, &Path)>); 4] = [
        ("it shows no certificate", vec![("NOMAD_CACERT", ca)]),
        (
            "nobody knows who signed its certificate",
            vec![("NOMAD_CACERT", ca), ("NOMAD_CLIENT_CERT", strange_cert), ("NOMAD_CLIENT_KEY", strange_key)],
        ),
        ("it does not know who signed that of the server", own.to_vec()),
        ("it knows somebody else", [[("NOMAD_CACERT", strange_cert)].as_slice(), &own].concat()),
    ];
    for (why, environment) in refused {
        let error = answers(&address, &environment).await.expect_err(why);
        assert!(matches!(error, CallError::Unreachable(_)), "{why}: {error:?}");
    }
    // A folder of certificates, and none at all where it is not looked at.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(ca, folder.path().join("ca.pem")).expect("a copy");
    answers(&address, &[[("NOMAD_CAPATH", folder.path())].as_slice(), &own].concat()).await.expect("it is in there");
    answers(&address, &[[("NOMAD_SKIP_VERIFY", Path::new("true"))].as_slice(), &own].concat()).await.expect("as told");
    // The token is sent that way too.
    fake.set_tokens(vec![Token::client("ours", Some("*"))]);
    let token = ("NOMAD_TOKEN", Path::new("ours"));
    let with_token = client(&address, &[[("NOMAD_CACERT", ca), token].as_slice(), &own].concat()).expect("a client");
    assert!(with_token.nodes().await.expect("it may read them").objects.is_empty());
}

/// A server's certificate is of `server.global.nomad`, whatever its address is.
#[tokio::test(flavor = "multi_thread")]
async fn the_name_in_the_certificate_may_be_another_than_that_of_the_address() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let address = tls(&fake, "127.0.0.2").await;
    let (ca, cert, key) = (file("ca.pem"), file("client.pem"), file("client.key"));
    let known: [(&str, &Path); 3] = [("NOMAD_CACERT", &ca), ("NOMAD_CLIENT_CERT", &cert), ("NOMAD_CLIENT_KEY", &key)];
    let error = answers(&address, &known).await.expect_err("its certificate is of 127.0.0.1");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    let named = |name: &'static str| [known.as_slice(), &[("NOMAD_TLS_SERVER_NAME", Path::new(name))]].concat();
    answers(&address, &named("localhost")).await.expect("that is its name");
    let error = answers(&address, &named("server.global.nomad")).await.expect_err("that is not");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let (missing, key) = (Path::new("/none.pem"), file("client.key"));
    let error = client("https://127.0.0.1:4646", &[("NOMAD_CACERT", missing)]).err().expect("there is none");
    assert_eq!(error.to_string(), "/none.pem cannot be read; hint: NOMAD_CACERT names it");
    let pair: [(&str, &Path); 2] = [("NOMAD_CLIENT_CERT", &key), ("NOMAD_CLIENT_KEY", &key)];
    let error = client("https://127.0.0.1:4646", &pair).err().expect("a key is no certificate");
    assert!(matches!(error, ConnectError::Pem { variable: "NOMAD_CLIENT_CERT", .. }), "{error:?}");
    let secret = std::fs::read_to_string(&key).expect("a key");
    assert!(!format!("{error:?}").contains(secret.lines().nth(1).expect("a line")), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_in_the_file_system_is_a_way_too() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nomad.sock");
    let (listener, to) = (UnixListener::bind(&path).expect("a socket"), fake.url());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let to = to.clone();
            tokio::spawn(async move { pass_on(stream, &to).await });
        }
    });
    answers(&format!("unix://{}", path.display()), &[]).await.expect("it listens");
    let none = folder.path().join("none.sock");
    let error = answers(&format!("unix://{}", none.display()), &[]).await.expect_err("nobody listens");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
}

/// `address` alone says where, and these variables the rest: what becomes of it, in one text.
async fn fails(address: &str, environment: &[(&str, &Path)]) -> String {
    let client = client(address, environment).expect("a client");
    let error = readable(&client).await.expect_err("it is refused");
    format!("{error}: {}", error.source().expect("a reason"))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_is_told_at_once_what_to_do() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(NodeSpec::default());
        let url = fake.url();
        readable(&client(&url, &[("NOMAD_REGION", Path::new("global"))]).expect("a client"))
            .await
            .expect("it is known");
        let mars = fails(&url, &[("NOMAD_REGION", Path::new("mars"))]).await;
        let hint =
            "hint: set `region` in `cluster: { nomad: … }`, or NOMAD_REGION, to one that `nomad server members` shows";
        assert_eq!(mars, format!("the list of nodes cannot be read: Nomad answers 500: No path to region; {hint}"));
        let open = client(&url, &[]).expect("a client");
        open.node(&id).await.expect("it is there");
        let short = open.node("zzz").await.expect_err("that is no ID").to_string();
        let said = "Nomad answers 500: node lookup failed: index error: UUID must be 36 characters";
        assert_eq!(short, format!("{said}; hint: give the whole ID, which has 36 characters"));
        let short = node_of(&open, "zzz").await.expect_err("nor is that").to_string();
        assert!(short.contains("500: alloc lookup failed") && short.contains("hint: give the whole ID"), "{short}");
        fake.set_tokens(vec![Token { nodes: false, ..Token::client("ours", Some("*")) }]);
        let hint = "; hint: set NOMAD_TOKEN to the secret ID of a token with the policy that docs/nomad.md shows";
        for token in ["ours", "nobodys"] {
            let refused = fails(&url, &[("NOMAD_TOKEN", Path::new(token))]).await;
            assert!(refused.starts_with("the list of nodes cannot be read: Nomad answers 403: "), "{refused}");
            assert!(refused.ends_with(hint), "{refused}");
        }
        fake.fail(Some(Failing::NoLeader));
        let refused = fails(&url, &[]).await;
        assert_eq!(refused, "the list of nodes cannot be read: Nomad answers 500: No cluster leader");
    }
}
