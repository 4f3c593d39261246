//! Standard output.

use std::io::{self, ErrorKind, Write};

/// Prints `text`, without its colours where standard output is no terminal. A reader that has seen enough, such as
/// `head`, is no error.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}
