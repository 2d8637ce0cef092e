use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

pin_project! {
    /// The time limits of a flight: its age, and shorter ones while it drains. Costs nothing until it is first polled.
    pub(crate) struct Clock {
        #[pin]
        sleep: Option<Sleep>,
        age: Option<Instant>,
        draining: bool,
    }
}

/// Which limit was reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    Drain,
    Age,
}

// === impl Clock ===

impl Clock {
    pub(crate) const fn new() -> Self {
        Self {
            sleep: None,
            age: None,
            draining: false,
        }
    }

    /// Waits for the age limit, or for `drain` from the moment that it was first asked for.
    pub(crate) fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        max_age: Duration,
        drain: Option<Duration>,
    ) -> Poll<Ring> {
        let mut this = self.project();
        if this.sleep.is_none() {
            this.sleep.set(Some(sleep(max_age)));
            *this.age = this
                .sleep
                .as_ref()
                .as_pin_ref()
                .map(|sleep| sleep.deadline());
        }
        let (Some(mut sleep), Some(age)) = (this.sleep.as_pin_mut(), *this.age) else {
            return Poll::Pending;
        };
        match drain {
            Some(limit) if !*this.draining => {
                *this.draining = true;
                let limit = Instant::now().checked_add(limit).unwrap_or(age);
                sleep.as_mut().reset(limit.min(age));
            }
            None if *this.draining => {
                *this.draining = false;
                sleep.as_mut().reset(age);
            }
            _ => {}
        }
        // Correctness: outside of the cooperative budget. A call that spends all of it in every poll would otherwise hide the limit for
        // good, and the timer, told that there is none left, would wake the task again and again.
        ready!(pin!(unconstrained(sleep.as_mut())).poll(cx));
        let drained = *this.draining && sleep.deadline() < age;
        Poll::Ready(if drained { Ring::Drain } else { Ring::Age })
    }
}
