use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The map of a service, whose type is known only when it is called.
///
/// A layer does not know the type of the requests, and so neither that of the keys nor of what is shared. The first call
/// makes the map. A service that is called with several types of request gets a map for each, in a list without locks;
/// the first, and mostly only, is found with one comparison.
#[derive(Default)]
pub(crate) struct Registry {
    item: OnceLock<Box<dyn Any + Send + Sync>>,
    next: OnceLock<Box<Registry>>,
}

// === impl Registry ===

impl Registry {
    pub(crate) fn get<T>(&self, make: impl Fn() -> T) -> &Arc<T>
    where
        T: Send + Sync + 'static,
    {
        let mut place = self;
        loop {
            let item = place.item.get_or_init(|| Box::new(Arc::new(make())));
            if let Some(found) = item.downcast_ref() {
                return found;
            }
            place = place.next.get_or_init(Box::default);
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(tower_coalesce_loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one_value() {
        let registry = Registry::default();
        assert_eq!(**registry.get(|| 1_u8), 1);
        assert_eq!(**registry.get(|| "two"), "two");
        assert_eq!(**registry.get(|| 3_u8), 1);
        assert_eq!(**registry.get(|| "four"), "two");
    }
}
