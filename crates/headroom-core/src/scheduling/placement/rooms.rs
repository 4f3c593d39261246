//! What is free on many nodes, to find the next one on which a pod fits without looking at each.

use crate::scheduling::resources::{FIXED, covers};

/// The rows of free resources of a list of nodes, and above them, block by block, the most of each resource that is
/// free in the block: a binary tree in one vector, whose root is row 1.
///
/// A block may have enough of everything while none of its nodes does, so a search may look into a block in vain; it
/// never misses a node.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Rooms {
    /// Columns of a row.
    width: usize,
    /// Leaves that there is space for: a power of two.
    space: usize,
    /// Leaves in use.
    len: usize,
    rows: Vec<i64>,
}

impl Rooms {
    pub(super) fn new(width: usize) -> Self {
        Rooms { width, space: 0, len: 0, rows: Vec::new() }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.len).unwrap_or(u32::MAX)
    }

    /// The nodes with these rows, and no other.
    pub(super) fn fill<'r>(&mut self, rows: impl ExactSizeIterator<Item = &'r [i64]>) {
        self.len = rows.len();
        self.space = if self.len == 0 { 0 } else { self.len.next_power_of_two() };
        self.rows = vec![i64::MIN; self.space * 2 * self.width];
        let leaves = self.rows.get_mut(self.space * self.width..).unwrap_or(&mut []);
        for (leaf, row) in leaves.chunks_exact_mut(self.width.max(1)).zip(rows) {
            leaf.iter_mut().zip(row).for_each(|(leaf, free)| *leaf = *free);
        }
        for at in (1..self.space).rev() {
            self.refresh(at);
        }
    }

    /// Adds a node and gives its position.
    pub(super) fn push(&mut self, row: &[i64]) -> u32 {
        if self.len == self.space {
            self.grow();
        }
        self.len += 1;
        let at = self.len() - 1;
        self.set(at, row);
        at
    }

    /// Takes the last node away.
    pub(super) fn pop(&mut self) {
        self.close(self.len().saturating_sub(1));
        self.len = self.len.saturating_sub(1);
    }

    /// Leaves nothing free on a node; whether that changes the most of any resource.
    pub(super) fn close(&mut self, at: u32) -> bool {
        let leaf = self.space + at as usize;
        self.rows.get_mut(leaf * self.width..(leaf + 1) * self.width).into_iter().for_each(|leaf| leaf.fill(i64::MIN));
        self.refresh_above(leaf)
    }

    /// Changes what is free on a node; whether that changes the most of any resource.
    pub(super) fn set(&mut self, at: u32, row: &[i64]) -> bool {
        let leaf = self.space + at as usize;
        // As in `has`.
        let changed = match <&[i64; FIXED]>::try_from(row) {
            Ok(row) if self.width == FIXED => {
                self.rows.as_chunks_mut::<FIXED>().0.get_mut(leaf).is_some_and(|leaf| overwrite(leaf, row))
            }
            _ => {
                let leaf = self.rows.get_mut(leaf * self.width..(leaf + 1) * self.width);
                leaf.is_some_and(|leaf| leaf.len() == row.len() && overwrite(leaf, row))
            }
        };
        changed && self.refresh_above(leaf)
    }

    fn refresh_above(&mut self, leaf: usize) -> bool {
        let mut at = leaf;
        while at > 1 {
            at /= 2;
            if !self.refresh(at) {
                return false;
            }
        }
        true
    }

    /// The first node at or behind `from` on which a pod with these needs fits.
    pub(in crate::scheduling) fn next(&self, from: u32, need: &[i64]) -> Option<u32> {
        if from as usize >= self.len {
            return None;
        }
        let mut at = self.space + from as usize;
        // The largest block that begins here.
        at >>= at.trailing_zeros();
        loop {
            if self.has(at, need) {
                if at >= self.space {
                    let found = at - self.space;
                    return if found < self.len { u32::try_from(found).ok() } else { None };
                }
                at *= 2;
            } else {
                // The block to the right: up while this one is a right half. The root is odd too, and has none.
                at >>= at.trailing_ones();
                if at == 0 {
                    return None;
                }
                at += 1;
            }
        }
    }

    /// Whether a node may have room for a pod with these needs. When not, none has.
    pub(super) fn may_have(&self, need: &[i64]) -> bool {
        self.len > 0 && self.has(1, need)
    }

    /// The most of each resource that is free on a node, each resource on its own.
    pub(in crate::scheduling) fn most(&self) -> &[i64] {
        self.row(1)
    }

    /// Whether there is as much in a row as a pod needs.
    #[inline]
    fn has(&self, at: usize, need: &[i64]) -> bool {
        // In most clusters these are all columns, and a row of known length is no loop.
        match <&[i64; FIXED]>::try_from(need) {
            Ok(need) if self.width == FIXED => {
                self.rows.as_chunks::<FIXED>().0.get(at).is_some_and(|free| covers(free, need))
            }
            _ => covers(self.row(at), need),
        }
    }

    fn row(&self, at: usize) -> &[i64] {
        self.rows.get(at * self.width..(at + 1) * self.width).unwrap_or(&[])
    }

    fn grow(&mut self) {
        let space = (self.space * 2).max(1);
        let mut rows = vec![i64::MIN; space * 2 * self.width];
        let leaves = self.rows.get(self.space * self.width..).unwrap_or(&[]);
        if let Some(target) = rows.get_mut(space * self.width..space * self.width + leaves.len()) {
            target.copy_from_slice(leaves);
        }
        self.rows = rows;
        self.space = space;
        for at in (1..space).rev() {
            self.refresh(at);
        }
    }

    /// Works out a block from its halves; whether that changed it.
    fn refresh(&mut self, at: usize) -> bool {
        // As in `has`.
        if self.width == FIXED
            && let Some((above, [left, right, ..])) = self.rows.as_chunks_mut::<FIXED>().0.split_at_mut_checked(2 * at)
        {
            return above.get_mut(at).is_some_and(|block| set_most(block, left, right));
        }
        let width = self.width;
        let Some((above, below)) = self.rows.split_at_mut_checked(2 * at * width) else { return false };
        let (Some(block), Some(halves)) = (above.get_mut(at * width..(at + 1) * width), below.get(..2 * width)) else {
            return false;
        };
        let (left, right) = halves.split_at(width);
        set_most(block, left, right)
    }
}

/// Puts one row in the place of another; whether that changed any resource.
#[inline]
fn overwrite(known: &mut [i64], row: &[i64]) -> bool {
    let mut changed = false;
    for (known, new) in known.iter_mut().zip(row) {
        changed |= known != new;
        *known = *new;
    }
    changed
}

/// Sets each resource of a row to the most of two; whether that changed any.
#[inline]
fn set_most(block: &mut [i64], left: &[i64], right: &[i64]) -> bool {
    let mut changed = false;
    for ((block, left), right) in block.iter_mut().zip(left).zip(right) {
        let most = *left.max(right);
        changed |= *block != most;
        *block = most;
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_what_a_walk_finds() {
        // A fixed sequence of pseudo-random numbers: x -> 5x + 3 modulo 64 visits all of them.
        let mut state = 1_i64;
        let mut number = || {
            state = (5 * state + 3) % 64;
            state
        };
        let mut rooms = Rooms::new(2);
        let mut rows: Vec<[i64; 2]> = Vec::new();
        for step in 0..400 {
            match step % 5 {
                0..=2 => {
                    let row = [number(), number()];
                    rooms.push(&row);
                    rows.push(row);
                }
                3 => {
                    let at = usize::try_from(number()).unwrap() % rows.len();
                    rows[at] = [number(), number()];
                    rooms.set(u32::try_from(at).unwrap(), &rows[at]);
                }
                _ if step % 3 == 0 => {
                    rooms.pop();
                    rows.pop();
                }
                _ => {}
            }
            let need = [number(), number()];
            let from = usize::try_from(number()).unwrap() % (rows.len() + 1);
            let walked = (from..rows.len()).find(|at| rows[*at][0] >= need[0] && rows[*at][1] >= need[1]);
            let found = rooms.next(u32::try_from(from).unwrap(), &need).map(|at| at as usize);
            assert_eq!(found, walked, "step {step}: {need:?} from {from} in {rows:?}");
        }
    }

    #[test]
    fn filling_at_once_is_pushing_one_by_one() {
        for len in 0..20_i64 {
            let rows: Vec<[i64; 2]> = (0..len).map(|at| [at * 7 % 5, at * 3 % 11]).collect();
            let (mut pushed, mut filled) = (Rooms::new(2), Rooms::new(2));
            for row in &rows {
                pushed.push(row);
            }
            filled.fill(rows.iter().map(|row| &row[..]));
            assert_eq!((filled.len, filled.space, &filled.rows), (pushed.len, pushed.space, &pushed.rows));
        }
    }

    #[test]
    fn rows_of_known_length_are_searched_as_longer_ones() {
        let (mut short, mut long) = (Rooms::new(4), Rooms::new(5));
        let row = |at: i64| [at * 7 % 13, at * 5 % 11, at % 3, at * 3 % 7, 0];
        for at in 0..50 {
            short.push(&row(at)[..4]);
            long.push(&row(at));
        }
        for step in 0..200_u32 {
            let (at, new) = (step * 17 % 50, row(i64::from(step) * 3 + 1));
            assert_eq!(short.set(at, &new[..4]), long.set(at, &new), "step {step}");
            assert_eq!(short.most(), &long.most()[..4], "step {step}");
            let need = row(i64::from(step) * 5 + 2);
            assert_eq!(short.next(step % 50, &need[..4]), long.next(step % 50, &need), "step {step}");
        }
    }

    #[test]
    fn a_pod_that_needs_nothing_finds_no_node_where_there_is_none() {
        let mut rooms = Rooms::new(1);
        assert_eq!(rooms.next(0, &[0]), None);
        rooms.push(&[-5]);
        assert_eq!(rooms.next(0, &[0]), Some(0), "less than nothing left does not keep it away");
        assert_eq!(rooms.next(0, &[1]), None);
        assert_eq!(rooms.next(1, &[0]), None);
    }
}
