use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Append(u64),
    Open,
    Read(usize),
    Close(usize),
    Lift,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..40_u64).prop_map(Step::Append),
        1 => Just(Step::Open),
        6 => (0..4_usize).prop_map(Step::Read),
        1 => (0..4_usize).prop_map(Step::Close),
        1 => Just(Step::Lift),
    ];
    proptest::collection::vec(step, 0..400)
}

proptest! {
    /// Whatever happens in whatever order: a reader reads what was appended, in order and without a gap, or is told that
    /// it lagged, and only if it did; the pump is held back by the window; the log holds no more than it may.
    #[test]
    fn readers_read_what_was_appended_within_the_bounds(
        steps in steps(),
        cap in 0..200_u64,
        window in 0..100_u64,
    ) {
        let log: Log<usize, ()> = Log::new(cap, window, 0);
        let (mut batch, noop) = (Batch::default(), Waker::noop());
        // The starts of all items, and the total.
        let mut starts = vec![0_u64];
        let mut readers: Vec<(Cursor, usize)> = Vec::new();
        let (mut reached, mut lifted, mut leader) = (0_u64, false, true);
        for step in steps {
            let total = *starts.last().unwrap();
            match step {
                Step::Append(weight) => {
                    let room = log.has_room(noop);
                    let expected = lifted || total <= reached || total < reached + window;
                    prop_assert_eq!(room, expected);
                    if room {
                        log.append(starts.len() - 1, weight, &mut batch);
                        starts.push(total + weight);
                    }
                }
                Step::Open => {
                    match log.open(leader) {
                        Some(cursor) => {
                            readers.push((cursor, 0));
                            lifted = false;
                        }
                        None => prop_assert!(total > cap && !leader),
                    }
                    leader = false;
                }
                Step::Read(n) => {
                    let Some((cursor, next)) = readers.get_mut(n) else { continue };
                    match log.poll_next(cursor, noop) {
                        Poll::Ready(Read::Item(item)) => {
                            prop_assert_eq!(item, *next);
                            *next += 1;
                            reached = reached.max(starts[*next]);
                        }
                        Poll::Ready(Read::Lagged) => {
                            prop_assert!(reached - starts[*next] > cap || total > cap && *next == 0);
                            log.close(&readers.remove(n).0);
                        }
                        Poll::Ready(Read::End(_)) => prop_assert!(false, "it has no end"),
                        Poll::Pending => prop_assert_eq!(*next + 1, starts.len()),
                    }
                }
                Step::Close(n) => {
                    if n < readers.len() {
                        log.close(&readers.remove(n).0);
                    }
                }
                Step::Lift => {
                    log.lift();
                    lifted |= readers.is_empty();
                }
            }
            let state = log.state.lock();
            let held: u64 = state.entries.iter().map(|entry| entry.weight).sum();
            prop_assert!(held <= cap + window.max(1) + 40 + 40, "{} held", held);
            let standing: usize = state.entries.iter().map(|entry| entry.before).sum();
            prop_assert!(standing + state.at_tip <= readers.len() + 1);
        }
    }
}
