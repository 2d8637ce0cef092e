use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

/// Everything a decoder says of a stream cut at the given places.
#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<Event>,
    blocks: Vec<Bytes>,
    remainder: Vec<u8>,
    boundary: bool,
    error: Option<Error>,
}

fn decode_cut(stream: &[u8], cuts: &[usize], limit: usize) -> Seen {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    let mut decoder = Decoder::with_limit(limit);
    let (mut events, mut blocks, mut error) = (Vec::new(), Vec::new(), None);
    for pair in cuts.windows(2) {
        let mut chunk = Bytes::copy_from_slice(&stream[pair[0]..pair[1]]);
        loop {
            match decoder.block(&mut chunk) {
                Ok(Some(block)) => {
                    events.extend(block.event());
                    blocks.push(block.into_raw());
                }
                Ok(None) => break,
                Err(e) => {
                    error = Some(e);
                    break;
                }
            }
        }
    }
    let boundary = decoder.is_boundary();
    if let Some(block) = decoder.finish() {
        events.extend(block.event());
        blocks.push(block.into_raw());
    }
    // What is kept of an event that is too large depends on where the error was seen.
    let remainder = if error.is_some() {
        Vec::new()
    } else {
        decoder.remainder().to_vec()
    };
    Seen {
        events,
        blocks,
        remainder,
        boundary,
        error,
    }
}

fn decode(stream: &str) -> Vec<Event> {
    let seen = decode_cut(stream.as_bytes(), &[], usize::MAX);
    let every: Vec<usize> = (0..stream.len()).collect();
    assert_eq!(decode_cut(stream.as_bytes(), &every, usize::MAX), seen);
    seen.events
}

fn data(stream: &str) -> Vec<String> {
    let text = |event: Event| String::from_utf8(event.data.to_vec()).unwrap();
    decode(stream).into_iter().map(text).collect()
}

#[test]
fn lines_end_in_lf_crlf_or_a_lone_cr() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = "data: a|data: b||data: c||".replace('|', end);
        assert_eq!(data(&stream), ["a\nb", "c"], "{end:?}");
    }
    assert_eq!(
        data("data: a\n\r\ndata: b\r\n\rdata: c\r\r\ndata: d\r\n\n"),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn an_event_ended_by_lone_crs_does_not_wait_for_the_next() {
    let mut decoder = Decoder::new();
    assert!(decoder.decode(&mut "data: a\r\r".into()).unwrap().is_some());
    assert!(
        decoder
            .decode(&mut "\ndata: b\r\n\r".into())
            .unwrap()
            .is_none()
    );
    assert!(decoder.decode(&mut "\n".into()).unwrap().is_some());
    assert!(
        decoder
            .decode(&mut "data: c\r\n\r".into())
            .unwrap()
            .is_none()
    );
    assert!(decoder.is_boundary());
    assert_eq!(decoder.finish().unwrap().event().unwrap().data, "c");
    assert!(decoder.finish().is_none());
}

#[test]
fn one_byte_order_mark_is_dropped() {
    assert_eq!(
        data("\u{feff}data: a\n\n\u{feff}data: b\n\ndata: c\n\n"),
        ["a", "c"]
    );
    assert_eq!(data("\u{feff}\n\ndata: a\n\n"), ["a"]);
}

#[test]
fn comments_and_unknown_fields_are_skipped() {
    assert_eq!(
        data(": ping\n\n:\ndata: a\n: b\ndatas: c\nDATA: d\n\n::\n\n"),
        ["a"]
    );
}

#[test]
fn one_space_after_the_colon_is_dropped() {
    assert_eq!(
        data("data:a\n\ndata:  b\n\ndata: c:d \n\n"),
        ["a", " b", "c:d "]
    );
}

#[test]
fn an_event_without_data_is_no_event() {
    assert_eq!(decode("event: a\nid: 1\n\n\n\nretry: 5\n\n"), []);
    assert_eq!(data("data\n\ndata:\n\ndata\ndata:\n\n"), ["", "", "\n"]);
}

#[test]
fn name_id_and_retry_are_read() {
    let events = decode(
        "event: x\nevent: y\nid: 7\nid: a\0b\nretry: 1500\nretry: 1x\ndata: a\n\ndata: b\n\n",
    );
    let one = Event::new("a")
        .with_name("y")
        .with_id("7")
        .with_retry(Duration::from_millis(1500));
    assert_eq!(events, [one, Event::new("b")]);
    assert_eq!(
        decode("retry: 99999999999999999999\ndata: a\n\n"),
        [Event::new("a")]
    );
    assert!(decode("data: [DONE]\n\n")[0].is_done());
}

#[test]
fn a_stream_cut_within_an_event_is_not_at_a_boundary() {
    let stream = "data: é\r\n\r\ndata: b\n\n";
    for end in 0..=stream.len() {
        let seen = decode_cut(&stream.as_bytes()[..end], &[], usize::MAX);
        let whole = [0, 11, 12, stream.len()].contains(&end);
        assert_eq!(seen.boundary, whole, "{end}");
    }
}

#[test]
fn an_event_in_one_chunk_is_not_copied() {
    let stream = Bytes::from("data: one\n\ndata: two\n\n".to_owned());
    let range = stream.as_ptr_range();
    let mut decoder = Decoder::new();
    let mut input = stream.clone();
    while let Some(event) = decoder.decode(&mut input).unwrap() {
        assert!(range.contains(&event.data.as_ptr()));
    }
}

#[test]
fn an_event_over_the_limit_is_an_error_and_stays_one() {
    let mut decoder = Decoder::with_limit(16);
    assert!(
        decoder
            .decode(&mut "data: 12345678\n\n".into())
            .unwrap()
            .is_some()
    );
    assert!(decoder.decode(&mut "data: 1234".into()).unwrap().is_none());
    let error = decoder.decode(&mut "56789".into());
    assert!(error.is_ok());
    let error = decoder.decode(&mut "\n\n".into()).unwrap_err();
    assert_eq!(
        (error.limit(), error.to_string().as_str()),
        (16, "event larger than 16 bytes")
    );
    assert!(decoder.decode(&mut "data: a\n\n".into()).is_err());
    assert!(!decoder.is_boundary() && decoder.finish().is_none());
    assert!(decoder.remainder().len() <= 16);
}

#[test]
fn the_encoder_cannot_be_made_to_write_another_field() {
    let mut out = Vec::new();
    Encoder.event(
        &Event::new("a\r\nb\rc\n")
            .with_name("x\ndata: y")
            .with_id("1\r2"),
        &mut out,
    );
    assert_eq!(
        out,
        b"event: xdata: y\nid: 12\ndata: a\ndata: b\ndata: c\ndata: \n\n"
    );
    out.clear();
    Encoder.comment("a\nb", &mut out);
    Encoder.data(b"", &mut out);
    assert_eq!(out, b": a\n: b\n\ndata: \n\n");
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(
        &[
            "data: a",
            "data:é😀",
            "data",
            ": c",
            "event: error",
            "id: 1",
            "retry: 20",
            "x",
            "\n",
            "\n",
            "\r",
            "\r",
            "\r\n",
            "\r\n",
            "\n\n",
            "\r\r",
            "\r\n\r\n",
            "\u{feff}",
            "data: {\"a\":1}\n\n",
        ][..],
    );
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_rechunking_gives_the_same_events(
        stream in stream(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        limit in prop_oneof![Just(usize::MAX), 8..40_usize],
    ) {
        prop_assert_eq!(decode_cut(&stream, &cuts, limit), decode_cut(&stream, &[], limit));
    }

    #[test]
    fn blocks_and_remainder_are_the_stream(stream in stream(), cuts in prop::collection::vec(any::<usize>(), 0..12)) {
        let seen = decode_cut(&stream, &cuts, usize::MAX);
        let mut whole = seen.blocks.concat();
        whole.extend(seen.remainder);
        prop_assert_eq!(whole, stream);
    }

    #[test]
    fn line_ends_do_not_matter(lines in prop::collection::vec("(data: ?[a-z]{0,3}|: c|)", 0..12)) {
        let with = |end: &str| {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), end]).collect();
            decode_cut(text.as_bytes(), &[], usize::MAX).events
        };
        prop_assert_eq!(with("\n"), with("\r\n"));
        prop_assert_eq!(with("\n"), with("\r"));
    }

    #[test]
    fn what_is_encoded_is_decoded(
        data in "[a-zé \n:]{0,12}", name in proptest::option::of("[a-z:]{1,6}"), retry in proptest::option::of(0..9999_u64),
    ) {
        let mut event = Event::new(data);
        event.name = name.map(Into::into);
        event.retry = retry.map(Duration::from_millis);
        let mut out = Vec::new();
        Encoder.comment("x", &mut out);
        Encoder.event(&event, &mut out);
        prop_assert_eq!(decode_cut(&out, &[], usize::MAX).events, [event]);
    }

    #[test]
    fn no_bytes_make_it_panic(stream in prop::collection::vec(any::<u8>(), 0..64), cut in any::<usize>()) {
        prop_assert_eq!(decode_cut(&stream, &[cut], 1 << 20), decode_cut(&stream, &[], 1 << 20));
    }
}
