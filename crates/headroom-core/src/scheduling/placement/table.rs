//! A vector that cannot panic.

/// A vector indexed by 32-bit ids. Reading an id that was never given out gives the default value, and what is written
/// there is lost. Ids only come from [`Table::push`], so neither happens unless there is a fault, and then the fault
/// costs an answer and not the process.
#[derive(Clone, Debug, Default)]
pub(in crate::scheduling) struct Table<T> {
    items: Vec<T>,
    outside: T,
}

impl<T: Default + Clone> Table<T> {
    /// `count` default items.
    pub(in crate::scheduling) fn with_len(count: usize) -> Self {
        Table { items: vec![T::default(); count], outside: T::default() }
    }
}

impl<T: Default> Table<T> {
    /// No item, with space for `count`.
    pub(in crate::scheduling) fn with_capacity(count: usize) -> Self {
        Table { items: Vec::with_capacity(count), outside: T::default() }
    }

    /// Adds an item and gives its id.
    pub(in crate::scheduling) fn push(&mut self, item: T) -> u32 {
        self.items.push(item);
        self.len() - 1
    }

    pub(in crate::scheduling) fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    pub(in crate::scheduling) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(u32::MAX)
    }

    pub(in crate::scheduling) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(in crate::scheduling) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    #[inline]
    pub(in crate::scheduling) fn at(&self, id: u32) -> &T {
        self.items.get(id as usize).unwrap_or(&self.outside)
    }

    #[inline]
    pub(in crate::scheduling) fn at_mut(&mut self, id: u32) -> &mut T {
        match self.items.get_mut(id as usize) {
            Some(item) => item,
            None => forgotten(&mut self.outside),
        }
    }
}

/// A default item to be written to. Apart, so that what happens is short.
#[cold]
fn forgotten<T: Default>(outside: &mut T) -> &mut T {
    *outside = T::default();
    outside
}
