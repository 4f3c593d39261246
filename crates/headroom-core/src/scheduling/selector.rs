//! Label selectors and the expressions that they are made of, as the API machinery of Kubernetes reads them.

use std::fmt;

use crate::snapshot::{Expression, LabelSelector, Labels, Operator};

/// Whether `value`, the value of the expression's label or None without one, is as the expression wants it.
///
/// An expression that the API would reject (an `In` without values, a `Gt` without exactly one whole number) holds for
/// nothing, not even as a `NotIn`.
pub(super) fn holds(expression: &Expression, value: Option<&str>) -> bool {
    let listed = |value: &str| expression.values.iter().any(|known| **known == *value);
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = || match &*expression.values {
        [only] => number(only),
        _ => None,
    };
    match expression.operator {
        Operator::In => value.is_some_and(listed),
        Operator::NotIn => !expression.values.is_empty() && !value.is_some_and(listed),
        Operator::Exists => value.is_some() && expression.values.is_empty(),
        Operator::DoesNotExist => value.is_none() && expression.values.is_empty(),
        Operator::Gt => bound().zip(value.and_then(number)).is_some_and(|(bound, value)| value > bound),
        Operator::Lt => bound().zip(value.and_then(number)).is_some_and(|(bound, value)| value < bound),
    }
}

/// Whether labels are selected. Without a selector nothing is.
pub(crate) fn selects(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.0.iter().all(|expression| holds(expression, labels.get(&expression.key))))
}

/// A selector narrowed to pods that equal (`In`) or differ from (`NotIn`) `own` in some labels. Keys that `own` does
/// not have are passed over, and so is everything when there is no selector.
///
/// The API server merges these keys into the selector of most objects already; doing it twice changes nothing.
pub(super) fn narrow(
    selector: Option<&LabelSelector>,
    own: &Labels,
    same: &[Box<str>],
    different: &[Box<str>],
) -> Option<LabelSelector> {
    let mut narrowed = selector?.clone();
    let keys = same.iter().map(|key| (key, Operator::In)).chain(different.iter().map(|key| (key, Operator::NotIn)));
    for (key, operator) in keys {
        let Some(value) = own.get(key) else { continue };
        let expression = Expression { key: key.clone(), operator, values: vec![value.into()] };
        if !narrowed.0.contains(&expression) {
            narrowed.0.push(expression);
        }
    }
    Some(narrowed)
}

/// Writes expressions the way `kubectl -l` reads them: `app in (a,b),!old,size>3`.
pub(super) struct Shown<'a>(pub(super) &'a [Expression]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Expression { key, operator, values }) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let values = values.join(",");
            match operator {
                Operator::In if !values.contains(',') => write!(f, "{comma}{key}={values}")?,
                Operator::In => write!(f, "{comma}{key} in ({values})")?,
                Operator::NotIn if !values.contains(',') => write!(f, "{comma}{key}!={values}")?,
                Operator::NotIn => write!(f, "{comma}{key} notin ({values})")?,
                Operator::Exists => write!(f, "{comma}{key}")?,
                Operator::DoesNotExist => write!(f, "{comma}!{key}")?,
                Operator::Gt => write!(f, "{comma}{key}>{values}")?,
                Operator::Lt => write!(f, "{comma}{key}<{values}")?,
            }
        }
        Ok(())
    }
}
