//! Inner services made of something simpler.

mod batch_fn;
mod per_item;

pub use self::{
    batch_fn::{BatchFn, BatchFnFuture, BatchResult, batch_fn},
    per_item::{PerItem, PerItemFuture},
};
