//! The command line as a user sees it: output, exit code, and which of the two streams carries what.

#[test]
fn commands_answer_as_recorded() {
    let cases = trycmd::TestCases::new();
    // Colour must not depend on where the tests run.
    cases.env("NO_COLOR", "1").case("tests/cmd/*.trycmd");
}
