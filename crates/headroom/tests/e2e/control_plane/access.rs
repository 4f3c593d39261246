//! Who may do what: keys, tokens and kubeconfig files, made anew for every control plane.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::{SystemRandom, fill};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

/// The parts of a control plane, and who tests it: they may do everything. And Headroom, which may do what a scene allows it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Admin,
    Scheduler,
    Controllers,
    Kwok,
    /// One instance of Headroom.
    Headroom,
    /// One that is alone with this name, since a test looks at everything that it writes.
    FirstHeadroom,
    /// Another one, in tests with two.
    SecondHeadroom,
}

impl Role {
    const ALL: [Self; 7] = [
        Self::Admin,
        Self::Scheduler,
        Self::Controllers,
        Self::Kwok,
        Self::Headroom,
        Self::FirstHeadroom,
        Self::SecondHeadroom,
    ];

    /// The user's name, in the audit log too.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Scheduler => "scheduler",
            Self::Controllers => "controllers",
            Self::Kwok => "kwok",
            Self::Headroom => "headroom",
            Self::FirstHeadroom => "first-headroom",
            Self::SecondHeadroom => "second-headroom",
        }
    }
}

/// The files that the API server and its clients need.
pub(super) struct Access {
    directory: PathBuf,
    pub(super) port: u16,
}

impl Access {
    /// Writes them to `directory`, for an API server that will listen on `port`.
    pub(super) fn create(directory: &Path, port: u16) -> Self {
        let access = Self { directory: directory.to_owned(), port };
        let (private, public) = key_pair();
        write(&access.private_key(), &private);
        write(&access.public_key(), &public);
        let mut tokens = String::new();
        for role in Role::ALL {
            let (name, token) = (role.name(), random());
            let groups = match role {
                Role::Headroom | Role::FirstHeadroom | Role::SecondHeadroom => "",
                _ => "system:masters",
            };
            let _ = writeln!(tokens, "{token},{name},{name},\"{groups}\"");
            access.kubeconfig(directory, name, &token);
        }
        write(&access.token_file(), &tokens);
        access
    }

    /// Where the API server puts the certificate and its authority, which it makes when it starts.
    pub(super) fn certificates(&self) -> PathBuf {
        self.directory.join("certificates")
    }

    /// What tokens of service accounts are signed with.
    pub(super) fn private_key(&self) -> PathBuf {
        self.directory.join("accounts.key")
    }

    pub(super) fn public_key(&self) -> PathBuf {
        self.directory.join("accounts.pub")
    }

    pub(super) fn token_file(&self) -> PathBuf {
        self.directory.join("tokens.csv")
    }

    pub(super) fn kubeconfig_of(&self, role: Role) -> PathBuf {
        self.directory.join(format!("{}.kubeconfig", role.name()))
    }

    /// Writes a kubeconfig file for the holder of `token`.
    pub(super) fn kubeconfig(&self, directory: &Path, name: &str, token: &str) -> PathBuf {
        let path = directory.join(format!("{name}.kubeconfig"));
        let content = format!(
            r#"apiVersion: v1
kind: Config
clusters:
  - name: e2e
    cluster:
      server: https://127.0.0.1:{port}
      certificate-authority: {authority}
users:
  - name: {name}
    user:
      token: {token}
contexts:
  - name: e2e
    context:
      cluster: e2e
      user: {name}
current-context: e2e
"#,
            port = self.port,
            authority = self.certificates().join("apiserver.crt").display(),
        );
        write(&path, &content);
        path
    }

    /// A client for what `role` may do. There is none before the API server has made its certificate.
    pub(super) async fn client(&self, role: Role) -> Result<Client, KubeconfigError> {
        let config = Kubeconfig::read_from(self.kubeconfig_of(role))?;
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config).expect("a client"))
    }
}

/// A new private key and its public key, as PEM.
fn key_pair() -> (String, String) {
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let private = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).expect("a key");
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, private.as_ref()).expect("a key pair");
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a public key");
    (pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", public.as_ref()))
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn random() -> String {
    let mut bytes = [0; 24];
    fill(&mut bytes).expect("randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

fn write(path: &Path, content: &str) {
    std::fs::write(path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
