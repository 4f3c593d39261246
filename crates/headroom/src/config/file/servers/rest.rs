//! How providers with a REST API are reached.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headroom_adapters::cloud::servers::rest::Token;

use super::Servers;
use crate::config::kind::{Kind, text, written};
use crate::config::record::Record;

/// An account with a provider that has a REST API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account<A> {
    variable: Arc<str>,
    file: Option<PathBuf>,
    /// Everything but the token.
    pub settings: A,
}

impl<A> Account<A> {
    /// With its token in an environment variable of this name.
    pub(super) fn new(variable: &str, settings: A) -> Self {
        Account { variable: variable.into(), file: None, settings }
    }

    /// Where the token is.
    pub fn token(&self) -> Token {
        match &self.file {
            Some(file) => Token::File(file.clone()),
            None => Token::Environment(self.variable.to_string()),
        }
    }

    /// The path of the token's file is relative to `folder`.
    pub(super) fn settle(&mut self, folder: &Path) {
        self.file = self.file.take().map(|file| folder.join(file));
    }
}

/// The keys of such accounts.
pub(super) fn keys<A: 'static, H: 'static>(record: Record<Servers<Account<A>, H>>) -> Record<Servers<Account<A>, H>> {
    record
        .field(
            "tokenVariable",
            text(),
            |servers| &mut servers.account.variable,
            "The environment variable with the API token.",
        )
        .field(
            "tokenFile",
            text::<String>().map(PathBuf::from).optional(),
            |servers| &mut servers.account.file,
            "A file with the API token and nothing else. It counts instead of the variable, is read for every request, so that \
             the token can be renewed, and its path is relative to this file.",
        )
}

/// The address of an HTTP API.
pub(in crate::config::file) fn address() -> Kind<Arc<str>> {
    let parse = |text: &str| match text.split_once("://") {
        Some(("http" | "https", host)) if !host.is_empty() && !host.starts_with('/') => Ok(Arc::from(text)),
        _ => Err("write it like https://api.example.com".to_owned()),
    };
    written("an address such as https://api.example.com", "^https?://[^/]", parse, |address: &Arc<str>| {
        address.to_string()
    })
}
