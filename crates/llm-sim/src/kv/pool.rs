//! A pool of KV blocks with reference counts and prefix hashes.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::lru::FreeList;

/// Blocks of KV memory.
///
/// A block is used (by one or more sequences) or free. A free block keeps its contents, and with
/// them its hash, until it is handed out again: the least recently freed goes first.
/// Used and free blocks together are always the total.
#[derive(Clone, Debug)]
pub struct BlockPool {
    free: FreeList,
    blocks: Vec<Block>,
    by_hash: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    references: u32,
    hash: Option<u64>,
}

impl BlockPool {
    /// A pool of `blocks` free blocks.
    #[must_use]
    pub fn new(blocks: u32) -> Self {
        Self {
            free: FreeList::full(blocks),
            blocks: vec![Block::default(); blocks as usize],
            by_hash: HashMap::default(),
        }
    }

    /// Blocks in the pool.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Blocks that no sequence uses.
    #[must_use]
    pub const fn free(&self) -> u32 {
        self.free.len()
    }

    /// Blocks in use.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.total() - self.free()
    }

    /// The block that holds the prefix with this hash, and whether it is free.
    pub(super) fn lookup(&self, hash: u64) -> Option<(u32, bool)> {
        let block = *self.by_hash.get(&hash)?;
        let state = self.blocks.get(block as usize)?;
        Some((block, state.references == 0))
    }

    /// Hands out the least recently freed block; its old contents are lost.
    pub(super) fn take(&mut self) -> Option<u32> {
        let block = self.free.pop_front()?;
        let state = self.blocks.get_mut(block as usize)?;
        state.references = 1;
        if let Some(hash) = state.hash.take()
            && self.by_hash.get(&hash) == Some(&block)
        {
            self.by_hash.remove(&hash);
        }
        Some(block)
    }

    /// One more user of a block that holds a wanted prefix.
    pub(super) fn share(&mut self, block: u32) {
        if let Some(state) = self.blocks.get_mut(block as usize) {
            if state.references == 0 {
                self.free.remove(block);
            }
            state.references += 1;
        }
    }

    /// One user less.
    pub(super) fn release(&mut self, block: u32) {
        if let Some(state) = self.blocks.get_mut(block as usize) {
            debug_assert!(state.references > 0, "a block is released once a user");
            state.references -= 1;
            if state.references == 0 {
                self.free.push_back(block);
            }
        }
    }

    /// Records what a full block holds; the first block with a hash keeps it.
    pub(super) fn name(&mut self, block: u32, hash: u64) {
        if let Some(state) = self.blocks.get_mut(block as usize)
            && state.hash.is_none()
        {
            self.by_hash.entry(hash).or_insert(block);
            state.hash = Some(hash);
        }
    }
}

/// A hasher for keys that are already well mixed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
