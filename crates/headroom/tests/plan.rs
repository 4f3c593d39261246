//! The commands `plan` and `explain`: what they print and how they exit. Each file of `plan` is a page of examples.

#[test]
fn plan_and_explain() {
    trycmd::TestCases::new().case("tests/plan/*.trycmd").case("tests/plan/*.toml");
}
