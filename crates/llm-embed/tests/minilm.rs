//! The published model, where it has been fetched: `cargo xtask model fetch`, or `LLM_FRONT_MODEL`.
#![cfg(feature = "minilm")]

mod common;

use std::sync::Arc;

use common::{cosine, load, model, models, texts};
use llm_embed::Embedder;
use llm_embed::error::TooLong;
use llm_embed::minilm::{MiniLm, Precision, batches};
use tower::{Service, ServiceExt};

#[test]
fn cosines_are_those_of_the_published_model() {
    let Some(model) = model() else { return };
    let texts = [
        "convert 5 km to miles",
        "convert 5 miles to km",
        "how many miles is 5 km",
    ];
    let vectors = model.embed(&texts).expect("short texts");
    for (other, expected) in [(1, 0.987_13), (2, 0.883_09)] {
        let found = cosine(&vectors[0], &vectors[other]);
        assert!((found - expected).abs() < 5e-6, "{found} for {expected}");
    }
    assert_eq!(model.dimensions(), 384);
}

#[test]
fn cosines_in_8_bits_are_near_those_of_the_published_model() {
    let (Some(whole), Some(bytes)) = (model(), load(Precision::Int8, 1)) else {
        return;
    };
    let texts = [
        "convert 5 km to miles",
        "convert 5 miles to km",
        "how many miles is 5 km",
    ];
    let vectors = bytes.embed(&texts).expect("short texts");
    for (other, expected) in [(1, 0.987_13), (2, 0.883_09)] {
        let found = cosine(&vectors[0], &vectors[other]);
        assert!((found - expected).abs() < 0.01, "{found} for {expected}");
    }
    let texts = common::texts();
    let pairs = whole.embed(&texts).expect("short texts").into_iter();
    let pairs = pairs.zip(bytes.embed(&texts).expect("short texts"));
    let cosines: Vec<_> = pairs.map(|(one, two)| cosine(&one, &two)).collect();
    let least = cosines.iter().copied().fold(1.0, f64::min);
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    println!("{} texts: least {least:.4}, mean {mean:.4}", texts.len());
    let worst = texts.iter().zip(&cosines).min_by(|a, b| a.1.total_cmp(b.1));
    assert!(least >= least_allowed(), "{worst:?}");
}

/// Without VNNI, x86 computes with weights of 7 bits.
fn least_allowed() -> f64 {
    #[cfg(target_arch = "x86_64")]
    if !is_x86_feature_detected!("avx512vnni") {
        return 0.98;
    }
    0.99
}

#[test]
fn each_precision_has_an_id_of_its_own() {
    let ids: Vec<_> = models()
        .map(|model| (model.precision(), model.id()))
        .collect();
    let [(Precision::Fp32, one), (Precision::Int8, two)] = ids[..] else {
        assert!(ids.is_empty(), "{ids:?}");
        return;
    };
    assert_ne!(one, two);
    assert_eq!(model().map(|model| model.id()), Some(one));
}

#[test]
fn a_text_has_the_same_vector_in_any_company_bit_for_bit() {
    for model in models() {
        // More tokens than one pass takes.
        let texts = texts();
        let together = model.embed(&texts).expect("within the window");
        let shared = load(model.precision(), 2).expect("there it is");
        for (text, vector) in texts.iter().zip(&together).step_by(3) {
            let alone = model.embed(&[text]).expect("within the window");
            assert!(vector.as_slice() == alone[0].as_slice(), "{text}");
            let shared = shared.embed(&[text]).expect("within the window");
            assert!(vector.as_slice() == shared[0].as_slice(), "{text}");
        }
    }
}

#[test]
fn vectors_have_norm_one_even_of_nothing() {
    for model in models() {
        for text in ["", "  ", "?", "你好", "[PAD]", "\u{0}", "e\u{301}"] {
            let vectors = model.embed(&[text]).expect("a vector");
            assert!((cosine(&vectors[0], &vectors[0]) - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn a_special_token_written_in_a_text_is_text() {
    let Some(model) = model() else { return };
    let vectors = model.embed(&["a [SEP] b", "a b"]).expect("short texts");
    let spelt = model.embed(&["a [ sep ] b"]).expect("a short text");
    assert!(cosine(&vectors[0], &spelt[0]) > 0.999_999);
    assert!(cosine(&vectors[0], &vectors[1]) < 0.999);
}

#[test]
fn a_text_past_the_window_is_refused_and_the_others_are_not() {
    for model in models() {
        assert_eq!(model.window(), 256);
        // Two of the tokens are the special ones.
        let (full, long) = ("word ".repeat(254), "word ".repeat(255));
        let huge = " ".repeat(1 << 20);
        let results = model.embed_each(&[&full, &long, &huge, "short"]);
        let refused: Vec<_> = results
            .iter()
            .map(|result| {
                let error = result.as_ref().err()?;
                Some(
                    error
                        .downcast_ref::<TooLong>()
                        .expect("too long")
                        .to_string(),
                )
            })
            .collect();
        assert_eq!(refused[0], None);
        assert_eq!(refused[3], None);
        assert_eq!(
            refused[1].as_deref(),
            Some("a text of 257 tokens is past the window of 256 tokens")
        );
        assert_eq!(
            refused[2].as_deref(),
            Some("a text of 1048576 bytes is past the window of 256 tokens")
        );
    }
}

#[tokio::test]
async fn callers_at_once_share_batches_and_each_gets_its_own_vector() {
    let Some(model) = model() else { return };
    let layer = batches(32);
    let stats = layer.stats();
    let service = model.service_with(layer);
    assert_eq!(service.id(), model.id());
    let long: Arc<str> = "word ".repeat(300).into();
    let texts: Vec<Arc<str>> = (0..40).map(|n| format!("number {n}").into()).collect();
    let calls: Vec<_> = texts
        .iter()
        .chain([&long])
        .map(|text| tokio::spawn(service.clone().oneshot(Arc::clone(text))))
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.expect("no panic"));
    }
    let refused = answers.pop().expect("one a text").expect_err("too long");
    assert!(refused.downcast_ref::<TooLong>().is_some(), "{refused}");
    let expected = model.embed(&texts).expect("short texts");
    for (answer, expected) in answers.into_iter().zip(&expected) {
        assert!(cosine(&answer.expect("a vector"), expected) > 0.999_999);
    }
    let batches = stats.snapshot().batches;
    assert!(batches <= 4, "{batches} batches of 41 texts");
}

#[tokio::test(start_paused = true)]
async fn a_lone_text_is_computed_at_once() {
    let Some(model) = model() else { return };
    let mut service = model.service();
    let started = tokio::time::Instant::now();
    for _ in 0..3 {
        let service = service.ready().await.expect("never fails");
        service.call("alone".into()).await.expect("a vector");
    }
    // Paused time moves only when somebody waits for a time to come: nobody did.
    assert!(started.elapsed().is_zero());
}

#[test]
fn a_folder_without_a_model_is_refused_with_the_name_of_the_file() {
    let folder = std::env::temp_dir().join("llm-embed-no-such-model");
    let error = MiniLm::load(&folder).expect_err("nothing there");
    assert_eq!(error.file(), folder.join("config.json"));
}
