//! The blocks of one sequence.

use super::BlockPool;
use crate::workload::{Request, mix};

/// The block table of a sequence, and the chain of hashes of its full blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockTable {
    blocks: Vec<u32>,
    /// Full blocks whose contents have been named in the pool.
    named: u32,
    /// The hash of the last named block.
    chain: u64,
}

impl BlockTable {
    /// Blocks held.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Whether no block is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How many of the first `limit` blocks of the request are in the pool, and how many of those
    /// are free (and would have to be taken back).
    #[must_use]
    pub fn cached(pool: &BlockPool, request: &Request, block: u32, limit: u32) -> (u32, u32) {
        let (mut hits, mut free, mut chain) = (0, 0, 0);
        while hits < limit {
            chain = link(chain, request, hits, block);
            match pool.lookup(chain) {
                Some((_, is_free)) => {
                    hits += 1;
                    free += u32::from(is_free);
                }
                None => break,
            }
        }
        (hits, free)
    }

    /// Takes the first `hits` blocks, which [`cached`](Self::cached) has found, into use.
    pub fn adopt(&mut self, pool: &mut BlockPool, request: &Request, block: u32, hits: u32) {
        debug_assert!(self.blocks.is_empty(), "only a fresh table adopts");
        self.chain = 0;
        for index in 0..hits {
            self.chain = link(self.chain, request, index, block);
            if let Some((found, _)) = pool.lookup(self.chain) {
                pool.share(found);
                self.blocks.push(found);
            }
        }
        self.named = hits;
    }

    /// Grows the table to `blocks` blocks; false, and nothing changed, where too few are free.
    pub fn grow(&mut self, pool: &mut BlockPool, blocks: u32) -> bool {
        let Some(missing) = blocks.checked_sub(self.len()) else {
            return true;
        };
        if missing > pool.free() {
            return false;
        }
        self.blocks.extend((0..missing).map_while(|_| pool.take()));
        true
    }

    /// Names the full blocks among the first `tokens` tokens, so that others can find them.
    pub fn name(&mut self, pool: &mut BlockPool, request: &Request, block: u32, tokens: u32) {
        let full = tokens / block;
        while self.named < full {
            let Some(held) = self.blocks.get(self.named as usize) else {
                break;
            };
            self.chain = link(self.chain, request, self.named, block);
            pool.name(*held, self.chain);
            self.named += 1;
        }
    }

    /// Gives every block back, the last first, so that the beginning of a prompt lives longest.
    pub fn release(&mut self, pool: &mut BlockPool) {
        for held in self.blocks.drain(..).rev() {
            pool.release(held);
        }
        self.named = 0;
        self.chain = 0;
    }
}

/// The hash of a block: of its contents and of everything before it.
fn link(chain: u64, request: &Request, index: u32, block: u32) -> u64 {
    mix(chain ^ request.prefix.block(request.id, index, block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Prefix;

    fn request(id: u64, prefix: Prefix) -> Request {
        Request {
            id,
            arrival_ms: 0.0,
            prompt_tokens: 64,
            output_tokens: 1,
            tenant: 0,
            priority: 0,
            key: id,
            prefix,
        }
    }

    #[test]
    fn a_shared_prefix_is_found_and_its_owner_keeps_it() {
        let shared = || Prefix::Shared {
            group: 7,
            tokens: 40,
        };
        let mut pool = BlockPool::new(8);
        let first = request(1, shared());
        let mut table = BlockTable::default();
        assert!(table.grow(&mut pool, 4));
        table.name(&mut pool, &first, 16, 64);
        // Two of the four blocks lie wholly inside the 40 shared tokens.
        let second = request(2, shared());
        assert_eq!(BlockTable::cached(&pool, &second, 16, 3), (2, 0));
        let mut other = BlockTable::default();
        other.adopt(&mut pool, &second, 16, 2);
        assert_eq!((pool.used(), pool.free()), (4, 4));
        table.release(&mut pool);
        assert_eq!(pool.used(), 2);
        assert_eq!(BlockTable::cached(&pool, &first, 16, 4), (4, 2));
    }

    #[test]
    fn the_tail_of_a_freed_sequence_is_evicted_first() {
        let mut pool = BlockPool::new(4);
        let first = request(1, Prefix::Own);
        let mut table = BlockTable::default();
        assert!(table.grow(&mut pool, 4));
        table.name(&mut pool, &first, 16, 64);
        table.release(&mut pool);
        let mut other = BlockTable::default();
        assert!(other.grow(&mut pool, 1));
        assert_eq!(BlockTable::cached(&pool, &first, 16, 4), (3, 3));
    }
}
