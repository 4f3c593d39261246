//! docs/compatibility.md: the prose of `page.md` with the counts and reasons of the cases.

use std::fmt::Write;

use serde::Deserialize;

use crate::case::Verdict;

/// An area with the names and verdicts of its cases.
pub(crate) type Area<'l> = (&'l str, Vec<(&'l str, Verdict<'l>)>);

/// The cases of the price expander, in which pods and nodes have prices that no cluster gives them; `tests/expander` runs
/// them.
pub(crate) fn price_cases() -> Vec<(&'static str, Verdict<'static>)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Priced {
        #[serde(borrow)]
        case: &'static str,
        differs: Option<&'static str>,
        not_applicable: Option<&'static str>,
    }
    let cases: Vec<Priced> = serde_json::from_str(include_str!("../expander/price.json")).unwrap();
    let verdict = |case: &Priced| match (case.differs, case.not_applicable) {
        (Some(reason), _) => Verdict::Different(vec![reason]),
        (None, Some(reason)) => Verdict::NotApplicable(reason),
        (None, None) => Verdict::Same,
    };
    cases.iter().map(|case| (case.case, verdict(case))).collect()
}

/// The page for all areas.
pub(crate) fn page(areas: &[Area<'_>]) -> String {
    let table = table(areas);
    let different = reasons(areas, |verdict| match verdict {
        Verdict::Different(reasons) => reasons.clone(),
        _ => Vec::new(),
    });
    let not_applicable = reasons(areas, |verdict| match verdict {
        Verdict::NotApplicable(reason) => vec![*reason],
        _ => Vec::new(),
    });
    let prose = include_str!("page.md");
    prose.replace("TABLE\n", &table).replace("DIFFERENT\n", &different).replace("NOT APPLICABLE\n", &not_applicable)
}

fn table(areas: &[Area<'_>]) -> String {
    let mut table =
        "| area | cases | passed | different on purpose | not applicable |\n|---|---|---|---|---|\n".to_owned();
    let mut sum = [0; 4];
    for (area, cases) in areas {
        let count = |is: fn(&Verdict<'_>) -> bool| cases.iter().filter(|(_, verdict)| is(verdict)).count();
        let different = count(|verdict| matches!(verdict, Verdict::Different(_)));
        let not_applicable = count(|verdict| matches!(verdict, Verdict::NotApplicable(_)));
        let row = [cases.len(), cases.len() - different - not_applicable, different, not_applicable];
        write_row(&mut table, area, row);
        sum.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    write_row(&mut table, "all", sum);
    table
}

fn write_row(table: &mut String, area: &str, [cases, passed, different, not_applicable]: [usize; 4]) {
    writeln!(table, "| {area} | {cases} | {passed} | {different} | {not_applicable} |").unwrap();
}

/// One item for each reason of an area, with all the cases that it holds for.
fn reasons<'l>(areas: &[Area<'l>], of: fn(&Verdict<'l>) -> Vec<&'l str>) -> String {
    let mut list = String::new();
    for (area, cases) in areas {
        let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, verdict) in cases {
            for reason in of(verdict) {
                match known.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, names)) => names.push(*name),
                    None => known.push((reason, vec![*name])),
                }
            }
        }
        for (reason, names) in known {
            writeln!(list, "- {area}, *{}*: {reason}.", names.join("*; *")).unwrap();
        }
    }
    list
}
