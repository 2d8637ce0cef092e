//! What a process uses.

use crate::BoxError;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::ClockId;
use nix::unistd::Pid;
use std::time::Duration;

/// CPU time that a process has used so far, in user and kernel mode, by all its threads, ended ones too.
///
/// Read from the process's CPU clock: the same scheduler accounting as `/proc/PID/task/*/schedstat`, in nanoseconds, which
/// however forgets threads that have ended.
///
/// # Errors
/// There is no such process.
pub fn cpu_time(process: Pid) -> Result<Duration, BoxError> {
    let clock = ClockId::pid_cpu_clock_id(process)
        .map_err(|error| format!("no CPU clock of {process}: {error}"))?;
    Ok(clock.now()?.into())
}

/// Memory of a process that is in RAM, in MiB: `VmRSS`.
///
/// # Errors
/// There is no such process.
pub fn resident_mib(process: Pid) -> Result<f64, BoxError> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    parse_resident(&status)
        .ok_or_else(|| format!("/proc/{process}/status does not tell VmRSS").into())
}

fn parse_resident(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// Keeps this process (threads started from now on included) on one CPU.
///
/// # Errors
/// There is no such CPU.
pub fn pin_this_process(cpu: usize) -> Result<(), BoxError> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &set)
        .map_err(|error| format!("cannot stay on CPU {cpu}: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_told_in_mib() {
        assert_eq!(parse_resident("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2.0));
        assert_eq!(parse_resident("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_has_used_time_and_memory() {
        assert!(cpu_time(Pid::this()).unwrap() > Duration::ZERO);
        assert!(resident_mib(Pid::this()).unwrap() > 0.1);
    }

    #[test]
    fn the_clock_counts_threads_that_have_ended() {
        let own = || Duration::from(ClockId::CLOCK_THREAD_CPUTIME_ID.now().unwrap());
        let work = Duration::from_millis(3);
        let before = cpu_time(Pid::this()).unwrap();
        std::thread::spawn(move || while own() < work {})
            .join()
            .unwrap();
        assert!(cpu_time(Pid::this()).unwrap() - before >= work);
    }
}
