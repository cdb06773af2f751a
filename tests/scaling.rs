//! docs/scaling.md quotes what the tool `day` prints, and the day that it plays is the one that is reckoned with.

use std::fs;

#[allow(dead_code, reason = "a part of the tool `day`")]
#[path = "tools/day/plan.rs"]
mod plan;
#[allow(dead_code, reason = "a part of the tool `day`")]
#[path = "tools/day/table.rs"]
mod table;

use plan::{Plan, Watches};

#[test]
fn the_page_holds_the_table_that_is_printed() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scaling.md")).expect("the page");
    let micros = page.split("--table --micros ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let micros: f64 = micros.and_then(|text| text.parse().ok()).expect("the page tells the command");
    let printed = table::table(micros);
    assert!(page.contains(&printed), "docs/scaling.md holds another table than is printed:\n{printed}");
}

#[test]
fn the_day_that_is_played_is_the_day_that_is_reckoned() {
    for watches in Watches::ALL {
        for ttl in [60, 600] {
            let plan = Plan { actors: 2000, ttl, watches };
            let hours: Vec<_> = (0..24).map(|hour| plan.hour(hour, 1).count() as f64).collect();
            let (mean, most) = (hours.iter().sum::<f64>() / 24.0, hours.iter().copied().fold(0.0, f64::max));
            let off = |played: f64, reckoned: f64| (played / reckoned - 1.0).abs();
            assert!(off(mean, plan.per_hour()) < 0.01, "{plan:?}: {mean} played, {} reckoned", plan.per_hour());
            // The hour with an edit need not be the one with the most wake-ups.
            assert!(off(most, plan.busiest()) < 0.05, "{plan:?}: {most} played, {} reckoned", plan.busiest());
        }
    }
}

#[test]
fn reconciles_come_in_order_and_are_the_same_each_time() {
    let plan = Plan { actors: 300, ttl: 60, watches: Watches::Keda };
    let hour: Vec<_> = plan.hour(10, 1).collect();
    assert!(hour.is_sorted_by_key(|reconcile| reconcile.at));
    assert!(hour.iter().step_by(7).copied().eq(plan.hour(10, 7)));
    let midnight: Vec<_> = plan.hour(0, 1).collect();
    assert!(midnight.iter().any(|reconcile| reconcile.look == plan::Look::Napping));
}
