//! The free blocks, least recently freed first.

const NONE: u32 = u32::MAX;

/// A doubly linked list over the block numbers `0..n`, in flat arrays.
#[derive(Clone, Debug)]
pub(super) struct FreeList {
    // One entry a block, and a sentinel at index n: its next is the head, its previous the tail.
    next: Vec<u32>,
    previous: Vec<u32>,
    len: u32,
}

#[expect(
    clippy::indexing_slicing,
    reason = "block numbers are below n by construction: only the pool hands them out"
)]
impl FreeList {
    /// All blocks `0..n`, in order.
    pub(super) fn full(n: u32) -> Self {
        let links = n as usize + 1;
        let mut this = Self {
            next: vec![NONE; links],
            previous: vec![NONE; links],
            len: 0,
        };
        this.next[n as usize] = n;
        this.previous[n as usize] = n;
        for block in 0..n {
            this.push_back(block);
        }
        this
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn push_back(&mut self, block: u32) {
        let sentinel = self.next.len() - 1;
        let tail = self.previous[sentinel];
        self.next[tail as usize] = block;
        self.previous[block as usize] = tail;
        self.next[block as usize] = sentinel as u32;
        self.previous[sentinel] = block;
        self.len += 1;
    }

    pub(super) fn pop_front(&mut self) -> Option<u32> {
        let sentinel = self.next.len() - 1;
        let head = self.next[sentinel];
        if head as usize == sentinel {
            return None;
        }
        self.remove(head);
        Some(head)
    }

    pub(super) fn remove(&mut self, block: u32) {
        let (before, after) = (self.previous[block as usize], self.next[block as usize]);
        self.next[before as usize] = after;
        self.previous[after as usize] = before;
        self.next[block as usize] = NONE;
        self.previous[block as usize] = NONE;
        self.len -= 1;
    }
}
