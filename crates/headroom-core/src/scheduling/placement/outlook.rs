//! What new machines can hold at best, before anything is packed.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::class::Row;
use super::node::Node;
use super::shape::Key;
use super::{Placement, TemplateId};
use crate::quantity::{Totals, ceil_div};
use crate::scheduling::resources::covers;
use crate::scheduling::{attach_limits, host_ports, pod_affinity, spread};
use crate::snapshot::{ClassId, SharedSpec};

/// Waiting pods by sort, and which sorts fit on new machines of each template.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    sorts: Vec<Sort>,
    /// By template, the sorts in ascending order.
    fits: Vec<Vec<u32>>,
    /// By template, what is free on a machine.
    free: Vec<Row>,
}

/// The best that could come of machines for all pods that fit on one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtBest {
    /// No fewer machines hold the pods.
    pub nodes: u32,
    /// What the pods request together.
    pub requested: Totals,
}

/// Pods that no new machine tells apart: they need the same and are welcome on the same kinds of machines.
#[derive(Clone, Debug)]
struct Sort {
    /// Of one of them.
    spec: SharedSpec,
    need: Row,
    count: i128,
    /// Counters of pods that keep off each other's hosts, these among them.
    apart: SmallVec<[u32; 1]>,
}

impl Outlook {
    /// The sorts of pods that fit on a new machine, by number and in ascending order.
    pub fn hosts(&self, template: TemplateId) -> &[u32] {
        self.fits.get(template.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The best that could come of machines of some templates, if they take every pod that fits on one of them.
    ///
    /// Resources are counted as if pods were liquid, so packing may need more machines and never fewer.
    pub fn at_best(&self, templates: &[TemplateId]) -> AtBest {
        let mut sorts: Vec<u32> = templates.iter().flat_map(|template| self.hosts(*template)).copied().collect();
        sorts.sort_unstable();
        sorts.dedup();
        let sorts = || sorts.iter().filter_map(|sort| self.sorts.get(*sort as usize));
        let mut requested = Totals::default();
        let mut used: SmallVec<[i128; 6]> = SmallVec::new();
        let mut apart: FxHashMap<u32, i128> = FxHashMap::default();
        for sort in sorts() {
            requested.add_times(&sort.spec.requests, sort.count);
            used.resize(sort.need.len(), 0);
            used.iter_mut().zip(&sort.need).for_each(|(used, need)| *used += i128::from(*need) * sort.count);
            sort.apart.iter().for_each(|counter| *apart.entry(*counter).or_default() += sort.count);
        }
        let free = |column: usize| {
            let free = templates.iter().filter_map(|template| self.free.get(template.0 as usize)?.get(column));
            free.max().copied().map_or(0, i128::from)
        };
        let columns = used.iter().enumerate().filter(|(column, used)| **used > 0 && free(*column) > 0);
        let by_resources = columns.map(|(column, used)| ceil_div(*used, free(column)));
        let nodes = by_resources.chain(apart.into_values()).chain(sorts().next().map(|_| 1)).max().unwrap_or(0);
        AtBest { nodes: u32::try_from(nodes).unwrap_or(u32::MAX), requested }
    }
}

/// New machines on which pods are welcome or not for the same reasons, whatever their size.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'a> {
    shape: u32,
    pods: &'a [(u32, u32)],
    limits: &'a [(u32, u32)],
}

#[derive(PartialEq, Eq, Hash)]
struct SortKey<'a> {
    need: &'a [i64],
    apart: SmallVec<[u32; 1]>,
    pattern: u32,
}

impl Placement {
    /// What new machines of each template can hold of these pods at best, as things are.
    pub fn outlook(&mut self, pods: &[(ClassId, u32)]) -> Outlook {
        let (kinds, examples) = self.kinds();
        let (patterns, welcome) = self.patterns(&examples, pods);
        let mut most = Row::from_elem(0, self.columns.count());
        for prototype in self.prototypes.iter() {
            most.iter_mut().zip(&prototype.free).for_each(|(most, free)| *most = (*most).max(*free));
        }
        let mut outlook = Outlook::default();
        let mut pattern_of_sort: Vec<u32> = Vec::new();
        let mut index: FxHashMap<SortKey<'_>, usize> = FxHashMap::default();
        for ((class, count), pattern) in pods.iter().zip(patterns) {
            let class = self.class(*class);
            // Pods that no machine is large enough for are of no sort.
            if !covers(&most, &class.need) {
                continue;
            }
            let rules = class.rules.iter().flat_map(|rules| &rules.anti);
            let over_hosts = rules.filter(|rule| rule.against_own && self.counter(rule.counter).key == Key::Host);
            let mut apart: SmallVec<[u32; 1]> = over_hosts.map(|rule| rule.counter).collect();
            apart.sort_unstable();
            apart.dedup();
            let next = outlook.sorts.len();
            let key = SortKey { need: &class.need, apart: apart.clone(), pattern };
            let sort = *index.entry(key).or_insert(next);
            if sort == next {
                let (spec, need) = (class.spec.clone(), class.need.clone());
                outlook.sorts.push(Sort { spec, need, count: 0, apart });
                pattern_of_sort.push(pattern);
            }
            outlook.sorts.get_mut(sort).into_iter().for_each(|sort| sort.count += i128::from(*count));
        }
        let is_welcome =
            |pattern: u32, kind: usize| welcome.get(pattern as usize).and_then(|on| on.get(kind)) == Some(&true);
        for (prototype, kind) in self.prototypes.iter().zip(kinds) {
            let sorts = (0..).zip(&outlook.sorts).zip(&pattern_of_sort);
            let fits =
                sorts.filter(|((_, sort), pattern)| is_welcome(**pattern, kind) && covers(&prototype.free, &sort.need));
            outlook.fits.push(fits.map(|((number, _), _)| number).collect());
            outlook.free.push(prototype.free.clone());
        }
        outlook
    }

    /// The pattern of each class by number, and of each pattern on which kinds of machines its pods are welcome.
    fn patterns(&mut self, examples: &[TemplateId], pods: &[(ClassId, u32)]) -> (Vec<u32>, Vec<Vec<bool>>) {
        let mut patterns = vec![0; pods.len()];
        let mut known: Vec<Vec<bool>> = vec![Vec::new()];
        for template in examples {
            let mut index: FxHashMap<(u32, bool), u32> = FxHashMap::default();
            let mut finer: Vec<Vec<bool>> = Vec::new();
            for (pattern, welcome) in patterns.iter_mut().zip(self.welcome(*template, pods)) {
                let coarser = *pattern;
                *pattern = *index.entry((coarser, welcome)).or_insert_with(|| {
                    let mut on = known.get(coarser as usize).cloned().unwrap_or_default();
                    on.push(welcome);
                    finer.push(on);
                    u32::try_from(finer.len() - 1).unwrap_or(u32::MAX)
                });
            }
            known = finer;
        }
        (patterns, known)
    }

    /// The kind of each template, by number, and of each kind one template.
    fn kinds(&self) -> (Vec<usize>, Vec<TemplateId>) {
        let mut examples = Vec::new();
        let mut index: FxHashMap<Kind<'_>, usize> = FxHashMap::default();
        let mut kinds = Vec::new();
        for (template, Node { shape, pods, limits, .. }) in (0..).zip(self.prototypes.iter()) {
            let next = examples.len();
            let kind = *index.entry(Kind { shape: *shape, pods, limits }).or_insert(next);
            if kind == next {
                examples.push(TemplateId(template));
            }
            kinds.push(kind);
        }
        (kinds, examples)
    }

    /// Whether pods of each class may go on a new machine of a template, its size left out.
    fn welcome(&mut self, template: TemplateId, pods: &[(ClassId, u32)]) -> Vec<bool> {
        let mark = self.mark();
        let id = self.open(template, 1);
        let shape = self.nodes.at(id).shape;
        let mut answers = Vec::with_capacity(pods.len());
        for (class, _) in pods {
            let fits = self.shape_fits(class.0, shape);
            let (class, node) = (self.class(*class), self.nodes.at(id));
            let fits = fits && !node.closed && self.named_fits(self.statics.at(class.statics), node);
            answers.push(
                fits && class.rules.as_ref().is_none_or(|rules| {
                    host_ports::check(self, rules, node).is_ok()
                        && attach_limits::check(self, rules, node).is_ok()
                        && spread::check(self, rules, node).is_ok()
                        && pod_affinity::check(self, rules, node).is_ok()
                }),
            );
        }
        self.rollback(mark);
        answers
    }
}
