//! What goes wrong with calls.

use axum::http::Method;

#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Calls of this kind are answered with an error.
    Answer { method: Method, path: &'static str, code: u16, once: bool },
    /// After so many changes nobody gets through any more. With `applies` the last one is carried out and its answer lost.
    CutOff { after: usize, applies: bool },
    /// Every call is answered with this error.
    Code(u16),
    /// Every call is answered with something that is no object.
    Garbage,
    /// No call is answered.
    Silence,
}

impl Fault {
    pub(super) fn strikes(&self, called: &Method, at: &str, writes: usize) -> bool {
        match self {
            Fault::Answer { method, path, .. } => method == called && at.contains(path),
            Fault::CutOff { after, applies: true } => writes == *after && called != Method::GET,
            Fault::CutOff { after, applies: false } => writes >= *after,
            Fault::Code(_) | Fault::Garbage | Fault::Silence => true,
        }
    }
}
