//! The program `headroom`. Everything is in the library, so that tests and benches can call it.

use std::process::ExitCode;

/// A round makes and drops many small lists, which takes a sixth less time with this one (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The one provider of TLS for every client. It fails when there is one already, and this comes first.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    headroom::cli::main()
}
