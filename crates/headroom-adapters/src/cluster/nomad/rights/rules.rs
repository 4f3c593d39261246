//! The rules of an ACL policy, in HCL or JSON, as far as they say whose jobs may be listed and read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Rights;

/// What a rule says of the namespaces that one pattern names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grant {
    lists: bool,
    reads: bool,
    denies: bool,
}

impl Grant {
    fn policy(&mut self, word: &str) {
        self.lists |= matches!(word, "read" | "write");
        self.reads |= matches!(word, "read" | "write");
        self.denies |= word == "deny";
    }

    fn capability(&mut self, word: &str) {
        self.lists |= word == "list-jobs";
        self.reads |= word == "read-job";
        self.denies |= word == "deny";
    }

    fn add(&mut self, other: Grant) {
        self.lists |= other.lists;
        self.reads |= other.reads;
        self.denies |= other.denies;
    }
}

/// What all policies of a token grant, by pattern.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    by_pattern: BTreeMap<String, Grant>,
    /// Some rules could not be read.
    unclear: bool,
}

impl Grants {
    /// Adds those of one policy; None when its rules are written in a way that is not understood.
    pub(super) fn add(&mut self, rules: Option<Vec<(String, Grant)>>) {
        self.unclear |= rules.is_none();
        for (pattern, grant) in rules.into_iter().flatten() {
            self.by_pattern.entry(pattern).or_default().add(grant);
        }
    }

    /// Everything may be seen if `*` may, and no other pattern, which would go before it, takes anything away.
    pub(super) fn rights(&self) -> Rights {
        let may = |grant: &Grant| grant.lists && grant.reads && !grant.denies;
        if self.unclear {
            return Rights::Unknown;
        }
        let all = self.by_pattern.get("*").is_some_and(may) && self.by_pattern.values().all(may);
        if all { Rights::All } else { Rights::Some }
    }
}

/// The patterns of namespaces in the rules of a policy, with what is granted.
pub(super) fn read_rules(rules: &str) -> Option<Vec<(String, Grant)>> {
    if rules.trim_start().starts_with('{') {
        return Some(of_json(serde_json::from_str::<Value>(rules).ok()?.get("namespace")?));
    }
    of_hcl(&tokens(rules)?)
}

fn of_json(namespaces: &Value) -> Vec<(String, Grant)> {
    // A block that may come several times is a map or a list of maps.
    if let Value::Array(several) = namespaces {
        return several.iter().flat_map(of_json).collect();
    }
    let Value::Object(blocks) = namespaces else { return Vec::new() };
    let grants = blocks.iter().map(|(pattern, block)| {
        let mut grant = Grant::default();
        let bodies = block.as_array().map_or(std::slice::from_ref(block), Vec::as_slice);
        for body in bodies {
            body.get("policy").and_then(Value::as_str).into_iter().for_each(|word| grant.policy(word));
            let capabilities = body.get("capabilities").and_then(Value::as_array).into_iter().flatten();
            capabilities.filter_map(Value::as_str).for_each(|word| grant.capability(word));
        }
        (pattern.clone(), grant)
    });
    grants.collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

fn of_hcl(tokens: &[Token]) -> Option<Vec<(String, Grant)>> {
    let mut grants = Vec::new();
    let mut depth = 0_u32;
    // The pattern of the block that is being read, and what its last key is.
    let mut block: Option<(String, Grant)> = None;
    let mut key = "";
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('{') => {
                if let (0, [.., Token::Word(kind), Token::Text(pattern)]) = (depth, tokens.get(..at)?)
                    && kind == "namespace"
                {
                    block = Some((pattern.clone(), Grant::default()));
                }
                depth += 1;
            }
            Token::Sign('}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    grants.extend(block.take());
                }
            }
            Token::Sign(_) => {}
            Token::Word(word) => key = word,
            Token::Text(text) => match (&mut block, depth, key) {
                (Some((_, grant)), 1, "policy") => grant.policy(text),
                (Some((_, grant)), 1, "capabilities") => grant.capability(text),
                _ => {}
            },
        }
    }
    (depth == 0).then_some(grants)
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        match first {
            '#' => drop(rest.by_ref().find(|next| *next == '\n')),
            '/' if rest.peek() == Some(&'/') => drop(rest.by_ref().find(|next| *next == '\n')),
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                let mut before = ' ';
                while !(before == '*' && rest.peek() == Some(&'/')) {
                    before = rest.next()?;
                }
                rest.next();
            }
            '"' => {
                let mut text = String::new();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => text.push(rest.next()?),
                        other => text.push(other),
                    }
                }
                tokens.push(Token::Text(text));
            }
            first if first.is_alphanumeric() || first == '_' => {
                let mut word = String::from(first);
                while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '-')) {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
            }
            first if first.is_whitespace() => {}
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(policies: &[&str]) -> Rights {
        let mut grants = Grants::default();
        policies.iter().for_each(|rules| grants.add(read_rules(rules)));
        grants.rights()
    }

    #[test]
    fn all_is_seen_where_every_namespace_may_be_read() {
        assert_eq!(rights(&[r#"namespace "*" { capabilities = ["list-jobs", "read-job"] }"#]), Rights::All);
        let apart = ["list-jobs", "read-job"].map(|word| format!(r#"namespace "*" {{ capabilities = ["{word}"] }}"#));
        assert_eq!(rights(&apart.each_ref().map(String::as_str)), Rights::All);
        assert_eq!(rights(&[r#"namespace "*" { policy = "read" } node { policy = "write" }"#]), Rights::All);
        assert_eq!(rights(&[r#"node { policy = "write" }"#, r#"namespace "*" { policy = "write" }"#]), Rights::All);
        let nested = r#"# "namespace" {
            namespace "*" { /* "deny" } */
              variables { path "*" { capabilities = ["deny"] } } // policy = "deny"
              capabilities = ["list-jobs", "read-job"]
            }"#;
        assert_eq!(rights(&[nested]), Rights::All);
        assert_eq!(rights(&[r#"{"namespace": {"*": {"policy": "read"}}}"#]), Rights::All);
        assert_eq!(rights(&[r#"{"namespace": [{"*": [{"capabilities": ["read-job", "list-jobs"]}]}]}"#]), Rights::All);
    }

    #[test]
    fn a_namespace_that_is_left_out_is_noticed() {
        assert_eq!(rights(&[]), Rights::Some);
        assert_eq!(rights(&[r#"node { policy = "write" }"#]), Rights::Some);
        assert_eq!(rights(&[r#"namespace "default" { policy = "read" }"#]), Rights::Some);
        assert_eq!(rights(&[r#"namespace "*" { policy = "scale" }"#]), Rights::Some);
        // The list of jobs needs one of them, and that of allocations the other.
        assert_eq!(rights(&[r#"namespace "*" { capabilities = ["read-job"] }"#]), Rights::Some);
        assert_eq!(rights(&[r#"namespace "*" { capabilities = ["list-jobs"] }"#]), Rights::Some);
        assert_eq!(rights(&[r#"namespace "*" { variables { path "*" { policy = "read" } } }"#]), Rights::Some);
        let secret = r#"namespace "secret-*" { policy = "deny" }"#;
        assert_eq!(rights(&[r#"namespace "*" { policy = "read" }"#, secret]), Rights::Some);
        assert_eq!(rights(&[r#"namespace "*" { policy = "read" capabilities = ["deny"] }"#]), Rights::Some);
    }

    #[test]
    fn rules_that_are_not_understood_grant_nothing_that_could_be_counted_on() {
        for rules in [r#"namespace "*" { policy = "read""#, r#"namespace "*"#, "}", "/* ", "{ no json"] {
            assert_eq!(rights(&[rules, r#"namespace "*" { policy = "read" }"#]), Rights::Unknown, "{rules}");
        }
    }
}
