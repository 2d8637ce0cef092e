//! In which order waiting requests are admitted.

use std::collections::{BTreeMap, VecDeque};

use crate::workload::Request;

/// The order of admission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// First come, first served; a preempted sequence goes to the head.
    #[default]
    Fcfs,
    /// The most urgent [`priority`](Request::priority), then the earliest arrival; the least
    /// urgent is preempted.
    Priority,
    /// The fewest output tokens, as an oracle would predict them.
    ShortestFirst,
    /// The longest prefix in the cache, among the first 128 (SGLang's rule).
    LongestPrefix,
    /// The tenant that has been served the fewest tokens (virtual token counters).
    Fair,
}

/// The waiting sequences, by slot number.
#[derive(Debug)]
pub(super) struct Queue {
    kind: Kind,
    len: usize,
    pushed: u64,
}

#[derive(Debug)]
enum Kind {
    Fifo(VecDeque<usize>),
    Keyed {
        order: Order,
        by_key: BTreeMap<(i64, u64, u64), usize>,
    },
    Prefix {
        fifo: VecDeque<usize>,
        picked: usize,
    },
    Fair {
        tenants: BTreeMap<u32, Tenant>,
        picked: u32,
    },
}

#[derive(Debug, Default)]
struct Tenant {
    waiting: VecDeque<usize>,
    served: u64,
}

/// How far longest-prefix order looks.
const LOOKAHEAD: usize = 128;

impl Queue {
    pub(super) fn new(order: Order) -> Self {
        let kind = match order {
            Order::Fcfs => Kind::Fifo(VecDeque::new()),
            Order::Priority | Order::ShortestFirst => Kind::Keyed {
                order,
                by_key: BTreeMap::new(),
            },
            Order::LongestPrefix => Kind::Prefix {
                fifo: VecDeque::new(),
                picked: 0,
            },
            Order::Fair => Kind::Fair {
                tenants: BTreeMap::new(),
                picked: 0,
            },
        };
        Self {
            kind,
            len: 0,
            pushed: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, slot: usize, request: &Request) {
        self.insert(slot, request, false);
    }

    /// Puts a preempted sequence back: at the head, where the order knows one.
    pub(super) fn push_front(&mut self, slot: usize, request: &Request) {
        self.insert(slot, request, true);
    }

    fn insert(&mut self, slot: usize, request: &Request, front: bool) {
        self.len += 1;
        self.pushed += 1;
        let end = |fifo: &mut VecDeque<usize>| {
            if front {
                fifo.push_front(slot);
            } else {
                fifo.push_back(slot);
            }
        };
        match &mut self.kind {
            Kind::Fifo(fifo) | Kind::Prefix { fifo, .. } => end(fifo),
            Kind::Keyed { order, by_key } => {
                let key = match order {
                    Order::ShortestFirst => i64::from(request.output_tokens),
                    _ => i64::from(request.priority),
                };
                let arrival = request.arrival_ms.max(0.0).to_bits();
                by_key.insert((key, arrival, self.pushed), slot);
            }
            Kind::Fair { tenants, .. } => {
                // A tenant that comes back does not bring the credit of its absence.
                let least = tenants
                    .values()
                    .filter(|tenant| !tenant.waiting.is_empty())
                    .map(|tenant| tenant.served)
                    .min();
                let tenant = tenants.entry(request.tenant).or_default();
                if let Some(least) = least
                    && tenant.waiting.is_empty()
                {
                    tenant.served = tenant.served.max(least);
                }
                end(&mut tenant.waiting);
            }
        }
    }

    /// The sequence to admit next; `cached` gives the cached prefix of one, in blocks.
    pub(super) fn peek(&mut self, cached: impl Fn(usize) -> u32) -> Option<usize> {
        match &mut self.kind {
            Kind::Fifo(fifo) => fifo.front().copied(),
            Kind::Keyed { by_key, .. } => by_key.first_key_value().map(|(_, slot)| *slot),
            Kind::Prefix { fifo, picked } => {
                let best = fifo
                    .iter()
                    .take(LOOKAHEAD)
                    .enumerate()
                    .max_by_key(|(at, slot)| (cached(**slot), std::cmp::Reverse(*at)))?;
                *picked = best.0;
                Some(*best.1)
            }
            Kind::Fair { tenants, picked } => {
                let (name, tenant) = tenants
                    .iter()
                    .filter(|(_, tenant)| !tenant.waiting.is_empty())
                    .min_by_key(|(name, tenant)| (tenant.served, **name))?;
                *picked = *name;
                tenant.waiting.front().copied()
            }
        }
    }

    /// Takes the sequence that [`peek`](Self::peek) has shown.
    pub(super) fn pop(&mut self) {
        let taken = match &mut self.kind {
            Kind::Fifo(fifo) => fifo.pop_front(),
            Kind::Keyed { by_key, .. } => by_key.pop_first().map(|(_, slot)| slot),
            Kind::Prefix { fifo, picked } => fifo.remove(*picked),
            Kind::Fair { tenants, picked } => tenants
                .get_mut(picked)
                .and_then(|tenant| tenant.waiting.pop_front()),
        };
        self.len -= usize::from(taken.is_some());
    }

    /// Takes one sequence out, wherever it is.
    pub(super) fn remove(&mut self, slot: usize) {
        let before = |fifo: &mut VecDeque<usize>| {
            let at = fifo.iter().position(|other| *other == slot)?;
            fifo.remove(at)
        };
        let taken = match &mut self.kind {
            Kind::Fifo(fifo) | Kind::Prefix { fifo, .. } => before(fifo),
            Kind::Keyed { by_key, .. } => {
                let key = by_key
                    .iter()
                    .find(|(_, other)| **other == slot)
                    .map(|(key, _)| *key);
                key.and_then(|key| by_key.remove(&key))
            }
            Kind::Fair { tenants, .. } => tenants
                .values_mut()
                .find_map(|tenant| before(&mut tenant.waiting)),
        };
        self.len -= usize::from(taken.is_some());
    }

    /// Notes tokens served to a tenant.
    pub(super) fn charge(&mut self, tenant: u32, tokens: u32) {
        if let Kind::Fair { tenants, .. } = &mut self.kind {
            tenants.entry(tenant).or_default().served += u64::from(tokens);
        }
    }
}
