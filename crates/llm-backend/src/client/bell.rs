//! The waker of a connection that whoever uses it drives.

use std::sync::Arc;
use std::task::{Wake, Waker};

use parking_lot::Mutex;

/// Remembers whether a connection has something to do, and wakes whoever waits for it.
///
/// A task that drives a connection often gives it something to do by itself: it takes a frame, and there is room for the next.
/// With its own waker it would wake itself for that. And a task is often woken for something else: then it need not look at the
/// connection at all.
#[derive(Debug, Default)]
pub(super) struct Bell {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    /// There is none while somebody is awake.
    sleeper: Option<Waker>,
}

// === impl Bell ===

impl Bell {
    /// Whether it was rung since it was last asked. If not, `sleeper` is woken when it is.
    pub(super) fn rang_or_wakes(&self, sleeper: &Waker) -> bool {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.rung) {
            return true;
        }
        if !matches!(&state.sleeper, Some(held) if held.will_wake(sleeper)) {
            let stale = state.sleeper.replace(sleeper.clone());
            drop(state);
            drop(stale);
        }
        false
    }

    /// Whether it was rung since it was last asked.
    pub(super) fn rang(&self) -> bool {
        std::mem::take(&mut self.state.lock().rung)
    }

    /// Nobody waits any more, and what rang so far was for those who did.
    pub(super) fn hush(&self) {
        let stale = std::mem::take(&mut *self.state.lock());
        drop(stale);
    }

    pub(super) fn ring(&self) {
        let mut state = self.state.lock();
        state.rung = true;
        let sleeper = state.sleeper.take();
        drop(state);
        if let Some(sleeper) = sleeper {
            sleeper.wake();
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn sleeper() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (count.clone(), count.into())
    }

    #[test]
    fn whoever_sleeps_is_woken_once() {
        let (woken, waker) = sleeper();
        let bell = Bell::default();
        assert!(!bell.rang_or_wakes(&waker));
        bell.ring();
        bell.ring();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(bell.rang_or_wakes(&waker));
        assert!(!bell.rang_or_wakes(&waker));
    }

    #[test]
    fn whoever_is_awake_is_not_woken_and_sees_that_it_rang() {
        let (woken, waker) = sleeper();
        let bell = Bell::default();
        bell.ring();
        assert!(bell.rang_or_wakes(&waker));
        bell.ring();
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        assert!(bell.rang());
        assert!(!bell.rang());
    }

    #[test]
    fn the_last_who_sleeps_is_the_one_who_is_woken() {
        let ((first, one), (second, two)) = (sleeper(), sleeper());
        let bell = Bell::default();
        assert!(!bell.rang_or_wakes(&one));
        assert!(!bell.rang_or_wakes(&two));
        bell.ring();
        assert_eq!(first.0.load(Ordering::Relaxed), 0);
        assert_eq!(second.0.load(Ordering::Relaxed), 1);
        assert!(bell.rang());
        bell.ring();
        bell.hush();
        assert!(!bell.rang());
        bell.ring();
        assert_eq!(second.0.load(Ordering::Relaxed), 1);
    }
}
