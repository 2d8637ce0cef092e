//! Every interleaving of a few threads over the cores. A lost wake-up is a deadlock, which loom reports.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use ::loom::future::block_on;
use ::loom::thread;

use super::log::{Log, Read};
use super::waiters::Batch;
use super::{Entered, Flight, Flights, Order};

type Map = Flights<u8, &'static str, Flight<u8, &'static str>>;
type Seat = Arc<Flight<u8, &'static str>>;

/// Explores with at most so many switches away from a thread that could go on: three threads have too many otherwise.
fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn enter(map: &Map, refused: Option<u64>) -> Entered<Flight<u8, &'static str>> {
    map.enter(map.hash(7), refused, 4, |flight| flight)
}

fn lead(map: &Map) -> Seat {
    match enter(map, None) {
        Entered::Lead(seat) => seat,
        Entered::Join(_) | Entered::Full => panic!("the first one leads"),
    }
}

fn land(map: &Map, seat: &Seat, outcome: &'static str) {
    map.retire(seat);
    seat.close(outcome);
}

fn leave(map: &Map, seat: &Seat, ticket: Option<u64>) {
    if seat.leave(ticket) {
        map.stop_if_deserted(seat);
    }
}

fn outcome(seat: &Seat) -> &'static str {
    let mut ticket = None;
    block_on(poll_fn(|cx| seat.poll_outcome(&mut ticket, cx.waker())))
}

#[test]
fn loom_who_joins_a_flight_that_lands_sees_its_outcome() {
    explore(3, || {
        let map = Arc::new(Map::new());
        let seat = lead(&map);
        let pilot = thread::spawn({
            let (map, seat) = (Arc::clone(&map), Arc::clone(&seat));
            move || land(&map, &seat, "first")
        });
        let joiner = thread::spawn({
            let map = Arc::clone(&map);
            move || match enter(&map, None) {
                Entered::Join(seat) => {
                    assert_eq!(outcome(&seat), "first");
                    leave(&map, &seat, None);
                }
                // Too late: the key was free.
                Entered::Lead(seat) => land(&map, &seat, "second"),
                Entered::Full => panic!("there is room"),
            }
        });
        assert_eq!(outcome(&seat), "first");
        leave(&map, &seat, None);
        pilot.join().unwrap();
        joiner.join().unwrap();
        assert_eq!(map.len(), (0, 0));
    });
}

#[test]
fn loom_whoever_is_last_in_a_flight_stays_alone() {
    explore(3, || {
        let map = Arc::new(Map::new());
        let seat = lead(&map);
        let pilot = thread::spawn({
            let (map, seat) = (Arc::clone(&map), Arc::clone(&seat));
            move || land(&map, &seat, "first")
        });
        let joiner = thread::spawn({
            let map = Arc::clone(&map);
            move || match enter(&map, None) {
                Entered::Join(_) => true,
                Entered::Lead(other) => {
                    land(&map, &other, "second");
                    leave(&map, &other, None);
                    false
                }
                Entered::Full => panic!("there is room"),
            }
        });
        let last = seat.is_last();
        let joined = joiner.join().unwrap();
        assert!(!(last && joined));
        pilot.join().unwrap();
        assert_eq!(seat.is_last(), !joined);
    });
}

#[test]
fn loom_who_joins_while_the_last_one_leaves_is_never_in_a_stopped_flight() {
    explore(3, || {
        let map = Arc::new(Map::new());
        let seat = lead(&map);
        let pilot = thread::spawn({
            let (map, seat) = (Arc::clone(&map), Arc::clone(&seat));
            move || {
                let order = block_on(poll_fn(|cx| Poll::Ready(seat.orders(cx.waker()))));
                land(
                    &map,
                    &seat,
                    if order == Order::Stop {
                        "stopped"
                    } else {
                        "landed"
                    },
                );
            }
        });
        let joiner = thread::spawn({
            let map = Arc::clone(&map);
            move || match enter(&map, None) {
                Entered::Join(seat) => {
                    assert_eq!(outcome(&seat), "landed");
                    leave(&map, &seat, None);
                }
                Entered::Lead(seat) => land(&map, &seat, "own"),
                Entered::Full => panic!("there is room"),
            }
        });
        leave(&map, &seat, None);
        pilot.join().unwrap();
        joiner.join().unwrap();
        assert_eq!(map.len(), (0, 0));
    });
}

#[test]
fn loom_the_pilot_hears_that_the_last_one_has_left() {
    loom::model(|| {
        let map = Arc::new(Map::new());
        let seat = lead(&map);
        let Entered::Join(second) = enter(&map, None) else {
            panic!("it is there")
        };
        let leaver = |seat: Seat| {
            let map = Arc::clone(&map);
            thread::spawn(move || leave(&map, &seat, None))
        };
        let leavers = [leaver(Arc::clone(&seat)), leaver(second)];
        // The pilot: returns only if it is told.
        block_on(poll_fn(|cx| match seat.orders(cx.waker()) {
            Order::Stop => Poll::Ready(()),
            Order::Fly | Order::Drain(_) => Poll::Pending,
        }));
        land(&map, &seat, "stopped");
        for leaver in leavers {
            leaver.join().unwrap();
        }
        assert_eq!(map.len(), (0, 0));
    });
}

#[test]
fn loom_a_waiter_that_leaves_takes_no_wake_up_with_it() {
    loom::model(|| {
        let map = Arc::new(Map::new());
        let seat = lead(&map);
        let Entered::Join(second) = enter(&map, None) else {
            panic!("it is there")
        };
        let pilot = thread::spawn({
            let (map, seat) = (Arc::clone(&map), Arc::clone(&seat));
            move || land(&map, &seat, "landed")
        });
        let leaver = thread::spawn({
            let map = Arc::clone(&map);
            move || {
                let mut ticket = None;
                block_on(poll_fn(|cx| {
                    let _ = second.poll_outcome(&mut ticket, cx.waker());
                    Poll::Ready(())
                }));
                leave(&map, &second, ticket);
            }
        });
        assert_eq!(outcome(&seat), "landed");
        leave(&map, &seat, None);
        pilot.join().unwrap();
        leaver.join().unwrap();
        assert_eq!(map.len(), (0, 0));
    });
}

#[test]
fn loom_an_old_flight_never_frees_the_key_of_a_newer_one() {
    loom::model(|| {
        let map = Arc::new(Map::new());
        let old = lead(&map);
        let pilot = thread::spawn({
            let (map, old) = (Arc::clone(&map), Arc::clone(&old));
            move || {
                leave(&map, &old, None);
                land(&map, &old, "old");
            }
        });
        let Entered::Lead(new) = enter(&map, Some(old.id())) else {
            panic!("it takes over")
        };
        pilot.join().unwrap();
        assert_eq!(map.len(), (1, 1));
        land(&map, &new, "new");
        assert_eq!(map.len(), (0, 0));
    });
}

type Numbers = Log<u8, &'static str>;

/// Appends `0..items`, keeping the window, and ends the log with one more that is held until the end.
fn pump(log: &Numbers, items: u8) {
    let mut batch = Batch::default();
    for item in 0..items {
        block_on(poll_fn(|cx| match log.has_room(cx.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }));
        log.append(item, 1, &mut batch);
    }
    log.hold(Some((items, 1)), Ok(()));
    log.finish(None);
}

/// Reads at most `most` items, leaves, and returns what it read and how it ended.
fn read(log: &Numbers, leader: bool, most: usize) -> (Vec<u8>, Option<Read<u8, &'static str>>) {
    let mut cursor = log.open(leader).expect("not closed");
    let mut items = Vec::new();
    let mut end = None;
    while items.len() < most && end.is_none() {
        match block_on(poll_fn(|cx| log.poll_next(&mut cursor, cx.waker()))) {
            Read::Item(item) => items.push(item),
            other => end = Some(other),
        }
    }
    log.close(&cursor);
    (items, end)
}

#[test]
fn loom_two_readers_read_everything_in_order() {
    explore(2, || {
        let log = Arc::new(Numbers::new(100, 1, 0));
        let other = thread::spawn({
            let log = Arc::clone(&log);
            move || assert_eq!(read(&log, false, 9), (vec![0, 1], Some(Read::End(Ok(())))))
        });
        let writer = thread::spawn({
            let log = Arc::clone(&log);
            move || pump(&log, 1)
        });
        assert_eq!(read(&log, true, 9), (vec![0, 1], Some(Read::End(Ok(())))));
        other.join().unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn loom_a_reader_that_leaves_stalls_nobody() {
    explore(2, || {
        let log = Arc::new(Numbers::new(100, 0, 0));
        let other = thread::spawn({
            let log = Arc::clone(&log);
            move || assert_eq!(read(&log, false, 1), (vec![0], None))
        });
        let writer = thread::spawn({
            let log = Arc::clone(&log);
            move || pump(&log, 1)
        });
        assert_eq!(read(&log, true, 9), (vec![0, 1], Some(Read::End(Ok(())))));
        other.join().unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn loom_a_reader_reads_a_prefix_and_then_the_end_or_that_it_lagged() {
    explore(2, || {
        let log = Arc::new(Numbers::new(1, 1, 0));
        let mut cursor = log.open(false).expect("nothing is there yet");
        let writer = thread::spawn({
            let log = Arc::clone(&log);
            move || pump(&log, 2)
        });
        let fast = thread::spawn({
            let log = Arc::clone(&log);
            move || {
                let (items, end) = read(&log, true, 9);
                assert!((0..).zip(&items).all(|(n, item)| n == *item));
                assert!(matches!(end, Some(Read::Lagged | Read::End(Ok(())))));
            }
        });
        let mut expected = 0;
        loop {
            match block_on(poll_fn(|cx| log.poll_next(&mut cursor, cx.waker()))) {
                Read::Item(item) => {
                    assert_eq!(item, expected);
                    expected += 1;
                }
                Read::Lagged => break,
                Read::End(end) => {
                    assert_eq!((end, expected), (Ok(()), 3));
                    break;
                }
            }
        }
        log.close(&cursor);
        writer.join().unwrap();
        fast.join().unwrap();
    });
}

#[test]
fn loom_a_log_without_readers_runs_to_its_end_once_it_is_let() {
    loom::model(|| {
        let log = Arc::new(Numbers::new(2, 1, 0));
        let writer = thread::spawn({
            let log = Arc::clone(&log);
            move || pump(&log, 4)
        });
        let (items, _) = read(&log, true, 1);
        assert_eq!(items, [0]);
        log.lift();
        writer.join().unwrap();
    });
}
