//! A vector that cannot panic.

use std::ops::{Index, IndexMut};

/// A vector indexed by 32-bit ids. Reading an id that was never given out gives the default value; what is written
/// there is lost. Ids are only handed out by [`Table::push`], so that neither happens unless there is a fault, and then
/// the fault costs an answer and not the process.
#[derive(Clone, Debug, Default)]
pub(super) struct Table<T> {
    items: Vec<T>,
    outside: T,
}

impl<T: Default> Table<T> {
    pub(super) fn filled(items: Vec<T>) -> Self {
        Table { items, outside: T::default() }
    }

    /// Adds an item and gives its id.
    pub(super) fn push(&mut self, item: T) -> u32 {
        self.items.push(item);
        self.len() - 1
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(super) fn get(&self, id: u32) -> Option<&T> {
        self.items.get(id as usize)
    }

    /// Makes sure that `id` can be written.
    pub(super) fn grow_to(&mut self, id: u32) {
        if self.items.len() <= id as usize {
            self.items.resize_with(id as usize + 1, T::default);
        }
    }
}

impl<T> Index<u32> for Table<T> {
    type Output = T;
    fn index(&self, id: u32) -> &T {
        self.items.get(id as usize).unwrap_or(&self.outside)
    }
}

impl<T: Default> IndexMut<u32> for Table<T> {
    fn index_mut(&mut self, id: u32) -> &mut T {
        match self.items.get_mut(id as usize) {
            Some(item) => item,
            None => {
                self.outside = T::default();
                &mut self.outside
            }
        }
    }
}
