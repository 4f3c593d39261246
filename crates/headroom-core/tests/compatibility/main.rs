//! What other autoscalers do, from their tests and from public reports, as fixtures through `decide`. One file for each
//! area; `case` describes their form, and docs/compatibility.md counts them.

mod case;
mod facts;
mod page;

use case::cases;
use expect_test::expect_file;

/// Each area with its file.
const AREAS: [(&str, &str); 1] = [("scale-up", include_str!("scale_up.cases"))];

#[test]
fn every_case_is_as_it_says() {
    for (area, text) in AREAS {
        let cases = cases(text);
        let wrong: Vec<String> = cases.iter().filter_map(|case| case.judge().err()).collect();
        assert!(wrong.is_empty(), "{} of {} cases of {area} fail:\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    }
}

#[test]
fn the_page_counts_every_case() {
    let areas = AREAS.map(|(area, text)| (area, cases(text)));
    expect_file!["../../../../docs/compatibility.md"].assert_eq(&page::page(&areas));
}
