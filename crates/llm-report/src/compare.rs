//! Whether a result that was made again is the one that is kept.

use serde_json::Value;

/// Keys that say where and when something ran.
const ELSEWHERE: [&str; 2] = ["machine", "version"];

/// How far apart two numbers may be that are equal up to the last digit that is written.
const LAST_DIGIT: f64 = 2e-5;

/// Where two results differ, as JSON pointers. What a machine's own time decided is passed over.
#[must_use]
pub fn differences(kept: &Value, made: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(kept, made, "", &mut found);
    found
}

fn walk(kept: &Value, made: &Value, at: &str, found: &mut Vec<String>) {
    match (kept, made) {
        (Value::Object(kept), Value::Object(made)) => {
            let roughly = kept.get("clock").and_then(Value::as_str) == Some("real");
            let passed_over = |key: &str| {
                ELSEWHERE.contains(&key) || roughly && (key == "measured" || key == "ratio")
            };
            let mut keys: Vec<&String> = kept.keys().chain(made.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys.into_iter().filter(|key| !passed_over(key)) {
                let pair = (kept.get(key), made.get(key));
                match pair {
                    (Some(kept), Some(made)) => walk(kept, made, &format!("{at}/{key}"), found),
                    (Some(_), None) => found.push(format!("{at}/{key}: is no longer made")),
                    _ => found.push(format!("{at}/{key}: is new")),
                }
            }
        }
        (Value::Array(kept), Value::Array(made)) => {
            if kept.len() != made.len() {
                found.push(format!(
                    "{at}: {} entries, kept are {}",
                    made.len(),
                    kept.len()
                ));
            }
            for (number, (kept, made)) in kept.iter().zip(made).enumerate() {
                walk(kept, made, &format!("{at}/{number}"), found);
            }
        }
        _ if same(kept, made) => {}
        _ => found.push(format!("{at}: {made}, kept is {kept}")),
    }
}

fn same(kept: &Value, made: &Value) -> bool {
    match (kept.as_f64(), made.as_f64()) {
        (Some(kept), Some(made)) => (kept - made).abs() <= LAST_DIGIT * kept.abs(),
        _ => kept == made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_the_same_whatever_machine_made_it() {
        let kept = json!({"machine": 1, "rows": [{"measured": 1.0, "clock": "virtual"}, {"measured": 3.0, "clock": "real"}]});
        let made = json!({"machine": 2, "rows": [{"measured": 1.00001, "clock": "virtual"}, {"measured": 9.0, "clock": "real"}]});
        assert_eq!(differences(&kept, &made), Vec::<String>::new());
    }

    #[test]
    fn what_differs_is_named_by_its_place() {
        let kept = json!({"a": [1, 2], "gone": 1, "b": 0.0});
        let made = json!({"a": [1, 3, 4], "new": 1, "b": 0.1});
        assert_eq!(
            differences(&kept, &made),
            [
                "/a: 3 entries, kept are 2",
                "/a/1: 3, kept is 2",
                "/b: 0.1, kept is 0.0",
                "/gone: is no longer made",
                "/new: is new",
            ]
        );
    }
}
