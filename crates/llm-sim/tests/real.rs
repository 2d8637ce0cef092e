//! Real runs of vLLM.

mod common;

use llm_sim::validate;

#[test]
fn a_real_run_is_met_without_fitting_anything_to_it() {
    let Some(folder) = common::data("sim/lss") else {
        return;
    };
    let runs = validate::find(&folder).unwrap();
    assert!(!runs.is_empty());
    for (_, run) in runs {
        let comparison = validate::compare(&run.unwrap());
        let errors = comparison.errors;
        println!("{comparison:#?}");
        assert!(errors.e2e_mean.abs() <= 3.0, "{errors:?}");
        assert!(errors.e2e_p99.abs() <= 4.0, "{errors:?}");
        assert!(errors.ttft_mean.abs() <= 5.0, "{errors:?}");
        assert!(errors.tpot_mean.abs() <= 3.0, "{errors:?}");
        assert!(errors.e2e_mape <= 3.0, "{errors:?}");
        assert!(
            comparison.without_kv_limit.e2e_mape > 10.0,
            "memory is what matters"
        );
    }
}
