//! Measures the world while it runs.

use headroom_core::quantity::{Money, Totals};
use jiff::{SignedDuration, Timestamp};

/// Columns of the chart.
const COLUMNS: usize = 72;

/// How much there is of everything in one group, at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    /// Machines that the cloud is asked to have.
    pub(crate) wanted: u32,
    /// Machines that it has and charges for, booting ones included.
    pub(crate) machines: u32,
    /// Registered nodes.
    pub(crate) nodes: u32,
    /// Nodes with pods other than those of DaemonSets.
    pub(crate) used: u32,
    /// What pods on its nodes request.
    pub(crate) requested: Totals,
    /// What its registered nodes offer.
    pub(crate) capacity: Totals,
}

/// Sums over time, in milliseconds times the amount.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) machines: i128,
    pub(crate) cpu_requested: i128,
    pub(crate) cpu_capacity: i128,
    pub(crate) memory_requested: i128,
    pub(crate) memory_capacity: i128,
}

/// One group's account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) price: Money,
    pub(crate) levels: Levels,
    pub(crate) sums: Sums,
    pub(crate) fewest: u32,
    pub(crate) most: u32,
}

/// Things that are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) arrived: u64,
    pub(crate) lost: u64,
    pub(crate) scale_ups: u64,
    pub(crate) requested: u64,
    pub(crate) removed: u64,
    pub(crate) marked: u64,
    pub(crate) unmarked: u64,
    pub(crate) failed_boots: u64,
}

/// Everything that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    start: Timestamp,
    end: Timestamp,
    now: Timestamp,
    accounts: Vec<Account>,
    waits: Vec<SignedDuration>,
    pub(crate) counts: Counts,
    /// For each column of the chart, machines wanted and nodes used, in milliseconds times the number.
    columns: Vec<(i128, i128)>,
}

impl Ledger {
    pub(crate) fn new(start: Timestamp, end: Timestamp, prices: impl Iterator<Item = Money>) -> Self {
        let account = |price| Account { price, fewest: u32::MAX, ..Account::default() };
        Ledger {
            start,
            end,
            now: start,
            accounts: prices.map(account).collect(),
            waits: Vec::new(),
            counts: Counts::default(),
            columns: vec![(0, 0); COLUMNS],
        }
    }

    /// A group's present levels, to be changed as they change.
    pub(crate) fn levels(&mut self, group: usize) -> &mut Levels {
        &mut self.accounts[group].levels
    }

    /// Counts the time that has passed since the last call at the present levels.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let span = millis(self.now, now);
        if span <= 0 {
            return;
        }
        for Account { levels, sums, fewest, most, .. } in &mut self.accounts {
            sums.machines += span * i128::from(levels.machines);
            sums.cpu_requested += span * levels.requested.cpu;
            sums.cpu_capacity += span * levels.capacity.cpu;
            sums.memory_requested += span * levels.requested.memory;
            sums.memory_capacity += span * levels.capacity.memory;
            *fewest = levels.machines.min(*fewest);
            *most = levels.machines.max(*most);
        }
        self.fill_columns(now);
        self.now = now;
    }

    pub(crate) fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    pub(crate) fn waited(&mut self, time: SignedDuration) {
        self.waits.push(time);
    }

    /// How long each pod that got a node had waited for it, shortest first.
    pub(crate) fn sorted_waits(&self) -> Vec<SignedDuration> {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        waits
    }

    /// Machines wanted and nodes used on average in each column, in thousandths.
    pub(crate) fn columns(&self) -> Vec<(u64, u64)> {
        let mean = |sum: i128, at: usize| {
            let span = millis(self.column_start(at), self.column_start(at + 1)).max(1);
            u64::try_from(sum * 1000 / span).unwrap_or(u64::MAX)
        };
        self.columns.iter().enumerate().map(|(at, (wanted, used))| (mean(*wanted, at), mean(*used, at))).collect()
    }

    fn fill_columns(&mut self, now: Timestamp) {
        let total =
            |of: fn(&Levels) -> u32| self.accounts.iter().map(|account| i128::from(of(&account.levels))).sum::<i128>();
        let (wanted, used) = (total(|levels| levels.wanted), total(|levels| levels.used));
        let mut from = self.now;
        while from < now {
            let at = self.column_of(from);
            let to = if at + 1 < COLUMNS { self.column_start(at + 1).min(now) } else { now };
            let span = millis(from, to);
            let column = &mut self.columns[at];
            column.0 += span * wanted;
            column.1 += span * used;
            from = to;
        }
    }

    fn column_of(&self, instant: Timestamp) -> usize {
        let whole = millis(self.start, self.end).max(1);
        let at = millis(self.start, instant) * COLUMNS as i128 / whole;
        let at = usize::try_from(at).unwrap_or(0).min(COLUMNS - 1);
        // Starts are rounded up, so that an instant may lie before the start of the column that division gives.
        if instant < self.column_start(at) { at - 1 } else { at }
    }

    fn column_start(&self, at: usize) -> Timestamp {
        let whole = millis(self.start, self.end);
        let offset = (whole * at as i128 + COLUMNS as i128 - 1) / COLUMNS as i128;
        let offset = SignedDuration::from_millis(i64::try_from(offset).unwrap_or(i64::MAX));
        self.start.saturating_add(offset).unwrap_or(Timestamp::MAX)
    }
}

fn millis(from: Timestamp, to: Timestamp) -> i128 {
    to.duration_since(from).as_millis()
}
