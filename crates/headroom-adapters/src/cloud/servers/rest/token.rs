//! Credentials of a provider.

use std::fmt;
use std::path::PathBuf;

use reqwest::header::HeaderValue;

/// Where the token is. It is read for every request, so that it can be renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// In an environment variable of this name.
    Environment(String),
    /// In a file.
    File(PathBuf),
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// There is no such variable.
    #[error("{variable} is not set")]
    NotSet {
        /// Its name.
        variable: String,
    },
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    NotRead {
        /// Its path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It cannot be one.
    #[error("what {place} holds is no token")]
    NotSendable {
        /// The variable or the file.
        place: String,
    },
}

/// A token. It is shown nowhere.
pub(crate) struct Secret(HeaderValue);

impl Token {
    pub(crate) fn read(&self) -> Result<Secret, TokenError> {
        let (place, text) = match self {
            Token::Environment(variable) => {
                let text = std::env::var(variable).ok().filter(|text| !text.trim().is_empty());
                (variable.clone(), text.ok_or_else(|| TokenError::NotSet { variable: variable.clone() })?)
            }
            Token::File(file) => {
                let path = file.display().to_string();
                let not_read = |source| TokenError::NotRead { path: path.clone(), source };
                let text = std::fs::read_to_string(file).map_err(not_read)?;
                (path, text)
            }
        };
        let text = text.trim();
        match HeaderValue::try_from(format!("Bearer {text}")) {
            Ok(mut header) if !text.is_empty() => {
                header.set_sensitive(true);
                Ok(Secret(header))
            }
            _ => Err(TokenError::NotSendable { place }),
        }
    }
}

impl Secret {
    pub(crate) fn header(self) -> HeaderValue {
        self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_anew_and_never_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        let token = Token::File(file.clone());
        assert!(matches!(token.read(), Err(TokenError::NotRead { .. })));
        std::fs::write(&file, "s3cret\n").expect("a file");
        let secret = token.read().expect("a token");
        assert_eq!(format!("{secret:?} {:?}", secret.0), "Secret Sensitive");
        assert_eq!(secret.header().to_str().expect("text"), "Bearer s3cret");
        std::fs::write(&file, "two\nlines").expect("a file");
        let error = token.read().expect_err("no token").to_string();
        assert_eq!(error, format!("what {} holds is no token", file.display()));
        std::fs::write(&file, "\n").expect("a file");
        assert!(token.read().is_err());
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let token = Token::Environment("HEADROOM_NO_SUCH_TOKEN".to_owned());
        assert_eq!(token.read().expect_err("no token").to_string(), "HEADROOM_NO_SUCH_TOKEN is not set");
    }
}
