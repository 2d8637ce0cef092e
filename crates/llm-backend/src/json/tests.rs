use proptest::prelude::*;
use serde_json::{Value, value::RawValue};

use super::*;

fn kind(text: &str) -> Kind {
    canonical(text.as_bytes()).expect_err(text).kind().clone()
}

#[test]
fn keys_are_sorted_at_every_depth_and_whitespace_is_gone() {
    let text = "\r\n { \"b\" : [ { \"z\" : 1 , \"y\" : { } } ] ,\t\"a\" : [ ] } ";
    assert_eq!(
        canonical(text.as_bytes()).unwrap(),
        r#"{"a":[],"b":[{"y":{},"z":1}]}"#
    );
}

#[test]
fn number_tokens_stay_as_they_are() {
    let text = "[1,1.0,1e0,-0,0.10,1E+5,123456789012345678901234567890,1e999]";
    assert_eq!(canonical(text.as_bytes()).unwrap(), text);
}

#[test]
fn strings_keep_only_the_escapes_they_need() {
    let text = r#"["\u0041\/\u00e9\ud83d\ude00\"\\\b\f\n\r\t\u0001\u001F\u007f", "é😀"]"#;
    let expected = "[\"A/é😀\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\",\"é😀\"]";
    assert_eq!(canonical(text.as_bytes()).unwrap(), expected);
}

#[test]
fn keys_are_compared_decoded() {
    assert_eq!(
        kind(r#"{"a":1,"\u0061":2}"#),
        Kind::DuplicateKey("a".into())
    );
    // `!` < `"` < `#` decoded; the escape's backslash would sort last.
    assert_eq!(
        canonical(br##"{"#":3,"\"":1,"!":2}"##).unwrap(),
        r##"{"!":2,"\"":1,"#":3}"##
    );
}

#[test]
fn a_key_that_appears_twice_is_named_and_placed() {
    let text = br#"{"x":{"model":1,"a":2,"model":3}}"#;
    let error = canonical(text).unwrap_err();
    assert_eq!(error.kind(), &Kind::DuplicateKey("model".into()));
    assert_eq!(error.offset(), 22);
    assert_eq!(error.to_string(), "duplicate key \"model\" at byte 22");
    assert!(Object::parse(br#"{"a":1,"b":2,"a":1}"#).is_err());
}

#[test]
fn malformed_text_is_refused_where_it_breaks() {
    for (text, offset) in [
        ("", 0),
        ("  ", 2),
        ("{\"model\":", 9),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("{a:1}", 1),
        ("01", 1),
        ("1.", 2),
        ("-", 1),
        ("1e", 2),
        ("tru", 3),
        ("nul1", 3),
        ("\"a", 2),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("\"a\nb\"", 2),
        ("{} x", 3),
        ("\u{feff}{}", 0),
        ("\"\\ud800\"", 1),
        ("\"\\ud800\\u0041\"", 1),
        ("\"\\udc00\"", 1),
    ] {
        let error = canonical(text.as_bytes()).expect_err(text);
        assert!(matches!(error.kind(), Kind::Syntax(_)), "{text}: {error}");
        assert_eq!(error.offset(), offset, "{text}: {error}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let error = canonical(b"[\"a\xff\"]").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (&Kind::Utf8, 3));
}

#[test]
fn nesting_is_bounded_where_serde_json_bounds_it() {
    for open in ["[", "{\"a\":"] {
        let close = if open == "[" { "]" } else { "}" };
        for depth in [1, 126, 127, 128, 129, 100_000] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let ours = canonical(text.as_bytes());
            assert_eq!(
                ours.is_ok(),
                serde_json::from_str::<Value>(&text).is_ok(),
                "{depth}"
            );
            assert_eq!(ours.is_ok(), depth < DEPTH_LIMIT);
        }
    }
    assert_eq!(kind(&"[".repeat(128)), Kind::TooDeep);
}

#[test]
fn only_an_object_is_an_object() {
    let error = Object::parse(b" [1]").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (&Kind::NotAnObject, 1));
    assert!(matches!(
        Object::parse(b"[1").unwrap_err().kind(),
        Kind::Syntax(_)
    ));
}

#[test]
fn an_object_shows_its_values_canonical_and_as_they_came() {
    let text = br#"{ "b" : [ 1 , 2 ], "a\u002fb": {"y":1, "x":2} }"#;
    let object = Object::parse(text).unwrap();
    let b = object.get("b").unwrap();
    assert_eq!((b.value(), b.raw()), (&b"[1,2]"[..], &b"[ 1 , 2 ]"[..]));
    assert_eq!(text.get(b.member_range()).unwrap(), br#""b" : [ 1 , 2 ]"#);
    assert_eq!(object.get("a/b").unwrap().value(), br#"{"x":2,"y":1}"#);
    assert!(object.get("c").is_none());
    assert_eq!(object.canonical(&[]), canonical(text).unwrap());
    assert_eq!(object.canonical(&["b"]), r#"{"a/b":{"x":2,"y":1}}"#);
    assert_eq!(object.canonical(&["b", "a/b"]), "{}");
    assert_eq!(Object::parse(b"{}").unwrap().canonical(&[]), "{}");
}

#[test]
fn canonical_text_is_read_back_by_ranges() {
    let text = br#"{"a":[1,"x,]\"",{"k":[]}],"b":-2.5,"c":{}}"#;
    let found: Vec<_> = members(text, 0)
        .map(|(key, range)| (key, &text[range]))
        .collect();
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], (&b"a"[..], &br#"[1,"x,]\"",{"k":[]}]"#[..]));
    assert_eq!(found[1], (&b"b"[..], &b"-2.5"[..]));
    let items: Vec<_> = elements(text, 5).map(|range| &text[range]).collect();
    assert_eq!(items, [&b"1"[..], &br#""x,]\"""#[..], &br#"{"k":[]}"#[..]]);
    assert_eq!(decode(items[1]).unwrap(), "x,]\"");
    assert_eq!(elements(b"[]", 0).count() + members(b"{}", 0).count(), 0);
    assert_eq!(elements(b"1", 0).count() + members(b"1", 0).count(), 0);
    assert_eq!(
        (number(b"-2.5"), number(b"\"1\""), number(b"null")),
        (Some(-2.5), None, None)
    );
}

#[test]
fn fields_keep_their_order_and_their_bytes() {
    let fields =
        Fields::parse(br#"{"z": 1.0, "a": [1, 2], "n": null, "s": "\u0041", "i": 7}"#).unwrap();
    let keys: Vec<_> = fields.0.iter().map(|(key, _)| key.as_ref()).collect();
    assert_eq!(keys, ["z", "a", "n", "s", "i"]);
    assert_eq!(fields.get("z").unwrap().get(), "1.0");
    assert_eq!(fields.array("a").unwrap().len(), 2);
    assert!(fields.get("n").is_none());
    assert_eq!(fields.string("s").unwrap(), "A");
    assert_eq!((fields.integer("i"), fields.integer("z")), (Some(7), None));
    assert!(Fields::parse(b"[]").is_none());
}

/// Whether `serde_json` takes a text, numbers of any size included.
fn serde_accepts(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    match serde_json::from_str::<Value>(text) {
        Ok(_) => true,
        Err(error) if error.to_string().starts_with("number out of range") => {
            serde_json::from_str::<Box<RawValue>>(text).is_ok()
        }
        Err(_) => false,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(?s).{0,12}".prop_map(Value::from),
        "[\\x00-\\x2f\"\\\\/a-c]{0,24}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-c\"\\\\é\\x01!#]{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a value with members reversed, escapes wherever one is possible, and blanks everywhere.
fn write_oddly(value: &Value, out: &mut String) {
    let string = |text: &str, out: &mut String| {
        out.push('"');
        for unit in text.encode_utf16() {
            out.push_str(&format!("\\u{unit:04X}"));
        }
        out.push('"');
    };
    out.push(' ');
    match value {
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "\n," } else { "\t" });
                write_oddly(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (i, (key, item)) in members.iter().rev().enumerate() {
                out.push_str(if i > 0 { ",\r" } else { " " });
                string(key, out);
                out.push_str(" :");
                write_oddly(item, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
    out.push(' ');
}

proptest! {
    #[test]
    fn a_run_ends_where_a_look_at_each_byte_ends_it(bytes in prop::collection::vec(prop_oneof![
        8 => 0x20..=0x7f_u8, 1 => any::<u8>(), 1 => prop::sample::select(&b"\"\\!#[]\x1f\x20\x7f\x80\xa2\xdc\xff"[..]),
    ], 0..40)) {
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let plain = bytes.iter().position(special).unwrap_or(bytes.len());
        prop_assert_eq!(super::string::plain(&bytes), plain);
        let ascii = bytes.iter().position(|byte| special(byte) || *byte >= 0x80);
        prop_assert_eq!(super::string::plain_ascii(&bytes), ascii.unwrap_or(bytes.len()));
    }
}

proptest! {
    #[test]
    fn the_canonical_form_is_what_serde_json_writes_of_sorted_maps(value in any_value()) {
        let mut odd = String::new();
        write_oddly(&value, &mut odd);
        prop_assert_eq!(canonical(odd.as_bytes()).unwrap(), serde_json::to_vec(&value).unwrap());
        let pretty = serde_json::to_vec_pretty(&value).unwrap();
        let once = canonical(&pretty).unwrap();
        prop_assert_eq!(&canonical(&once).unwrap(), &once);
        prop_assert_eq!(&once, &serde_json::to_vec(&value).unwrap());
    }

    #[test]
    fn exactly_what_serde_json_accepts_is_accepted(
        value in any_value(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 0..4),
    ) {
        let mut odd = String::new();
        write_oddly(&value, &mut odd);
        let mut text = odd.into_bytes();
        for (at, byte, what) in flips {
            let at = at.index(text.len());
            match what {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                _ => text.insert(at, b"\"\\,:[]{}0-+.eEu "[usize::from(byte) % 16]),
            }
            if text.is_empty() {
                break;
            }
        }
        let ours = canonical(&text);
        let duplicate = matches!(&ours, Err(e) if matches!(e.kind(), Kind::DuplicateKey(_)));
        prop_assert!(duplicate || ours.is_ok() == serde_accepts(&text), "{:?}", text.escape_ascii().to_string());
    }

    #[test]
    fn soup_is_accepted_exactly_when_serde_json_accepts_it(
        text in "[ \\n\"\\\\{}\\[\\],:0-2eE.+\\-tfnrualse]{0,12}",
    ) {
        let ours = canonical(text.as_bytes());
        let duplicate = matches!(&ours, Err(e) if matches!(e.kind(), Kind::DuplicateKey(_)));
        prop_assert!(duplicate || ours.is_ok() == serde_accepts(text.as_bytes()), "{}", text);
    }

    #[test]
    fn no_bytes_make_it_fail_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = canonical(&bytes) {
            prop_assert!(error.offset() <= bytes.len());
        }
    }
}
