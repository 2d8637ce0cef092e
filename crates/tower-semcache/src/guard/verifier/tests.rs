use proptest::prelude::*;

use super::*;

fn at(cosine: f64) -> Similarity {
    Similarity::new(cosine).expect("finite")
}

#[test]
fn a_rewording_needs_similarity_and_a_replaced_word_is_refused_all_the_same() {
    let verifier = Verifier::english();
    let asked = "What should I do if I miss a dose of my antibiotics?";
    let reworded = "I forgot one of my antibiotic tablets yesterday evening, what now?";
    assert!(
        verifier.probability(asked, reworded, 0.9) > verifier.probability(asked, reworded, 0.4)
    );
    let verdict = verifier.accepts_at("how do I bake a pie", "how do I bake a tart", at(0.8));
    assert_eq!(verdict.rule(), Some("verifier"));
}

#[test]
fn rules_stand_above_the_probability() {
    let verifier = Verifier::english().at_least(0.0).expect("a probability");
    let verdict = verifier.accepts_at("open at 7am", "open at 7pm", at(1.0));
    assert_eq!(verdict.rule(), Some("amounts"));
    assert!(
        verifier
            .accepts_at("bake a pie", "bake a tart", at(0.1))
            .is_accept()
    );
}

#[test]
fn a_probability_that_is_none_is_refused() {
    for bad in [-0.1, 1.1, f32::NAN] {
        let error = Verifier::english().at_least(bad).expect_err("refused");
        assert!(error.to_string().contains("probability"), "{error}");
    }
}

#[test]
fn training_finds_what_separates_the_samples() {
    let sample = |cosine: f32, same_answer| Sample {
        features: Features::read("bake a pie", "bake a tart", cosine),
        same_answer,
    };
    let samples: Vec<Sample> = (0..100u8)
        .map(|at| sample(f32::from(at) / 100.0, at > 50))
        .collect();
    let weights = Weights::fit(&samples, 0.1);
    let probability =
        |cosine| weights.probability(&Features::read("bake a pie", "bake a tart", cosine));
    assert!(probability(0.9) > 0.9 && probability(0.1) < 0.1);
    assert_eq!(
        Weights::fit(&samples[..20], 0.1),
        Weights::new([0.0; FEATURES])
    );
}

proptest! {
    #[test]
    fn the_verifier_is_symmetric(one in "[a-d ]{0,20}", two in "[a-d ]{0,20}", cosine in -1.0..1.0f64) {
        let verifier = Verifier::english();
        prop_assert_eq!(
            verifier.accepts_at(&one, &two, at(cosine)),
            verifier.accepts_at(&two, &one, at(cosine))
        );
        prop_assert!(verifier.accepts_at(&one, &one, at(cosine)).is_accept());
    }
}
