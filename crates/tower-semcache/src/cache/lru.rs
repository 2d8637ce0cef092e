/// A slab whose slots form a list from the least to the most recently used.
///
/// Every operation is O(1). Freed slots are reused, so the slab is as long as it was at its
/// fullest.
#[derive(Debug)]
pub(crate) struct Lru<T> {
    slots: Vec<Slot<T>>,
    /// The head of the list of free slots, linked by `next`.
    free: Link,
    oldest: Link,
    newest: Link,
    len: usize,
}

/// The address of a slot. It stays valid until the slot is removed.
pub(crate) type Index = u32;

type Link = Option<std::num::NonZeroU32>;

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    older: Link,
    newer: Link,
}

// === impl Lru ===

impl<T> Lru<T> {
    /// The bytes one value costs here.
    pub(crate) const OVERHEAD: usize = size_of::<Slot<T>>();

    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: None,
            oldest: None,
            newest: None,
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Slots, free ones included: the range in which [`Lru::get`] may find something.
    pub(crate) const fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn get(&self, index: Index) -> Option<&T> {
        self.slots.get(index as usize)?.value.as_ref()
    }

    /// Adds a value as the most recently used. `None` when no address is left.
    pub(crate) fn push(&mut self, value: T) -> Option<Index> {
        let index = match self.free {
            Some(link) => {
                let index = at(link);
                let slot = self.slots.get_mut(index as usize)?;
                self.free = slot.newer;
                slot.value = Some(value);
                index
            }
            None => {
                let index = u32::try_from(self.slots.len())
                    .ok()
                    .filter(|i| *i < u32::MAX)?;
                self.slots.push(Slot {
                    value: Some(value),
                    older: None,
                    newer: None,
                });
                index
            }
        };
        self.append(index);
        self.len += 1;
        Some(index)
    }

    /// Makes a value the most recently used.
    pub(crate) fn touch(&mut self, index: Index) {
        if self.newest != link(index) && self.get(index).is_some() {
            self.detach(index);
            self.append(index);
        }
    }

    pub(crate) fn remove(&mut self, index: Index) -> Option<T> {
        let value = self.slots.get_mut(index as usize)?.value.take()?;
        self.detach(index);
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.newer = self.free;
            self.free = link(index);
        }
        self.len -= 1;
        Some(value)
    }

    /// The least recently used.
    pub(crate) fn oldest(&self) -> Option<Index> {
        self.oldest.map(at)
    }

    fn append(&mut self, index: Index) {
        let newest = self.newest;
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.older = newest;
            slot.newer = None;
        }
        match self.slot(newest) {
            Some(slot) => slot.newer = link(index),
            None => self.oldest = link(index),
        }
        self.newest = link(index);
    }

    fn detach(&mut self, index: Index) {
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return;
        };
        let (older, newer) = (slot.older.take(), slot.newer.take());
        match self.slot(older) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slot(newer) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
    }

    fn slot(&mut self, link: Link) -> Option<&mut Slot<T>> {
        self.slots.get_mut(at(link?) as usize)
    }
}

// A link is the address plus one, so that `None` costs nothing.
fn link(index: Index) -> Link {
    std::num::NonZeroU32::new(index.wrapping_add(1))
}

fn at(link: std::num::NonZeroU32) -> Index {
    link.get() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        Touch(usize),
        Remove(usize),
        Evict,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Push),
            2 => any::<usize>().prop_map(Step::Touch),
            2 => any::<usize>().prop_map(Step::Remove),
            1 => Just(Step::Evict),
        ]
    }

    proptest! {
        #[test]
        fn the_list_is_what_a_plain_queue_would_be(steps in prop::collection::vec(step(), 0..200)) {
            let mut lru = Lru::new();
            let mut model: Vec<(Index, usize)> = Vec::new();
            for (value, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push => {
                        let index = lru.push(value).expect("room");
                        prop_assert!(model.iter().all(|(other, _)| *other != index));
                        model.push((index, value));
                    }
                    Step::Touch(i) if !model.is_empty() => {
                        let entry = model.remove(i % model.len());
                        lru.touch(entry.0);
                        model.push(entry);
                    }
                    Step::Remove(i) if !model.is_empty() => {
                        let (index, value) = model.remove(i % model.len());
                        prop_assert_eq!(lru.remove(index), Some(value));
                        prop_assert_eq!(lru.remove(index), None);
                        lru.touch(index);
                    }
                    Step::Evict if !model.is_empty() => {
                        let (index, value) = model.remove(0);
                        prop_assert_eq!(lru.oldest(), Some(index));
                        prop_assert_eq!(lru.remove(index), Some(value));
                    }
                    _ => prop_assert_eq!(lru.oldest(), None),
                }
                prop_assert_eq!(lru.len(), model.len());
                prop_assert_eq!(lru.oldest(), model.first().map(|(index, _)| *index));
                for (index, value) in &model {
                    prop_assert_eq!(lru.get(*index), Some(value));
                }
            }
        }
    }
}
