//! Waking at a moment, to the microsecond.

use super::Stamp;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use rustix::time::{timerfd_create, timerfd_settime};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Wakes its task at a moment, through a timer of the kernel's.
///
/// tokio's own timers count milliseconds, which is the whole answer of a cache hit: sent by them, a request at 20,000 a second
/// would be late by ten times the gap between two.
#[derive(Debug)]
pub struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// A timer, within a tokio runtime.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        #[expect(
            deprecated,
            reason = "unsound only for a descriptor that may be closed or replaced, which an `OwnedFd` is not; its successor is unsafe"
        )]
        AsyncFd::with_interest(timer, Interest::READABLE).map(Self)
    }

    /// Waits until `moment`; returns at once where it has passed.
    ///
    /// # Errors
    /// The timer cannot be set.
    pub async fn until(&mut self, moment: Stamp) -> io::Result<()> {
        loop {
            let left = moment.since(Stamp::now());
            if left.is_zero() {
                return Ok(());
            }
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once(left)?)?;
            let mut rung = self.0.readable().await?;
            // An alarm of an earlier call that was dropped may ring here: then it would block, and the loop looks again.
            let mut times = [0; size_of::<u64>()];
            if let Ok(read) =
                rung.try_io(|timer| Ok(rustix::io::read(timer.get_ref(), &mut times)?))
            {
                read?;
            }
        }
    }
}

fn once(after: Duration) -> io::Result<Itimerspec> {
    let value = Timespec::try_from(after).map_err(io::Error::other)?;
    let never = Timespec::try_from(Duration::ZERO).map_err(io::Error::other)?;
    Ok(Itimerspec {
        it_interval: never,
        it_value: value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_alarm_is_never_early_and_a_past_one_rings_at_once() {
        let mut alarm = Alarm::new().unwrap();
        let start = Stamp::now();
        alarm.until(start).await.unwrap();
        for step in 1..20 {
            let moment = start + Duration::from_micros(150) * step;
            alarm.until(moment).await.unwrap();
            assert!(Stamp::now() >= moment);
        }
    }

    #[tokio::test]
    async fn an_alarm_that_was_given_up_does_not_ring_for_the_next() {
        let mut alarm = Alarm::new().unwrap();
        let start = Stamp::now();
        let given_up = tokio::time::timeout(
            Duration::from_millis(1),
            alarm.until(start + Duration::from_secs(60)),
        );
        assert!(given_up.await.is_err());
        let moment = Stamp::now() + Duration::from_millis(2);
        alarm.until(moment).await.unwrap();
        assert!(Stamp::now() >= moment);
    }
}
