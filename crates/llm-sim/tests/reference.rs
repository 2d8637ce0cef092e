//! The reference's published table and workloads, exactly.

mod common;

use llm_sim::{reference, workload::Workload};
use serde_json::Value;

#[test]
fn every_published_number_comes_out() {
    let Some(file) = common::data("seed/seed_batching.json") else {
        return;
    };
    let published = std::fs::read_to_string(file).unwrap();
    let (compared, mismatches) = reference::check(&reference::table(), &published).unwrap();
    assert_eq!(compared, 150);
    assert!(mismatches.is_empty(), "{mismatches:?}");
}

#[test]
fn capacities_on_the_grid_are_the_published_ones() {
    let capacities = reference::table()
        .iter()
        .map(reference::Curve::capacity)
        .collect::<Vec<_>>();
    assert_eq!(capacities, [Some(0.5), Some(1.0), Some(10.0)]);
}

#[test]
fn workloads_are_those_of_python() {
    let Some(file) = common::data("seed/seed_workload_vectors.json") else {
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 30);
    for vector in vectors {
        let rate = vector["rate"].as_f64().unwrap();
        let seed = vector["seed"].as_u64().unwrap();
        let requests: Vec<_> = Workload::seed(seed, rate)
            .take(reference::REQUESTS)
            .collect();
        for (want, got) in vector["first3"].as_array().unwrap().iter().zip(&requests) {
            assert_eq!(want[0].as_str().unwrap(), format!("{:?}", got.arrival_ms));
            assert_eq!(want[1].as_u64().unwrap(), u64::from(got.prompt_tokens));
            assert_eq!(want[2].as_u64().unwrap(), u64::from(got.output_tokens));
        }
        let last = requests.last().unwrap().arrival_ms;
        assert_eq!(
            vector["last_arrival_ms"].as_str().unwrap(),
            format!("{last:?}")
        );
        let prompts: u64 = requests.iter().map(|r| u64::from(r.prompt_tokens)).sum();
        let outputs: u64 = requests.iter().map(|r| u64::from(r.output_tokens)).sum();
        assert_eq!(vector["sum_prompt"].as_u64().unwrap(), prompts);
        assert_eq!(vector["sum_output"].as_u64().unwrap(), outputs);
    }
}
