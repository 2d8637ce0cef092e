use std::sync::Arc;

use bytes::Bytes;

/// How many bytes a stored value holds, its own size and what it points to.
///
/// The bound of a cache is kept with these numbers, so an estimate should rather be too high.
pub trait Weigh {
    /// The size in bytes.
    fn weigh(&self) -> usize;
}

macro_rules! weigh_by_size {
    ($($value:ty),*) => {$(
        impl Weigh for $value {
            fn weigh(&self) -> usize {
                size_of::<Self>()
            }
        }
    )*};
}

macro_rules! weigh_by_length {
    ($($value:ty),*) => {$(
        impl Weigh for $value {
            fn weigh(&self) -> usize {
                size_of::<Self>() + self.len()
            }
        }
    )*};
}

weigh_by_size!(
    (),
    bool,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64
);
weigh_by_size!(char, &'static str);
weigh_by_length!(Bytes, Box<str>, Arc<str>);

impl Weigh for String {
    fn weigh(&self) -> usize {
        size_of::<Self>() + self.capacity()
    }
}

impl Weigh for Vec<u8> {
    fn weigh(&self) -> usize {
        size_of::<Self>() + self.capacity()
    }
}

impl<T: Weigh> Weigh for Arc<T> {
    fn weigh(&self) -> usize {
        // Two counters stand before the value.
        size_of::<Self>() + 2 * size_of::<usize>() + T::weigh(self)
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn weigh(&self) -> usize {
        self.as_ref().map_or(size_of::<Self>(), |value| {
            value.weigh() + (size_of::<Self>() - size_of::<T>())
        })
    }
}
