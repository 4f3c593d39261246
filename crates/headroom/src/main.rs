//! The program `headroom`. Everything is in the library, so that tests and benches can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    headroom::cli::main()
}
