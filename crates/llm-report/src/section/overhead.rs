//! What the front end costs, beside nginx.

use super::bench;
use crate::BoxError;
use crate::chart::{Bar, Bars, Group};
use crate::page::{Block, Section};
use crate::results::{Get, Results};
use serde_json::Value;

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let Some((mut section, result)) = bench::section(
        results,
        "overhead.json",
        ("overhead", "Overhead beside nginx"),
        "What does a request cost in CPU time, and how far behind the backend's is the first byte?",
        "The whole process on one core, its CPU time counted by the kernel, in interleaved rounds with nginx on the same core; `proxy_pass` \
         keeps nothing, `proxy_cache` is nginx's own cache",
    )?
    else {
        return Ok(None);
    };
    let cpu = result.list("/measured/cpu");
    let first = result.list("/measured/first_byte");
    section.blocks = vec![
        Block::Chart(cpu_chart(cpu).draw()),
        Block::Chart(first_chart(first).draw()),
        bench::checks(&result),
    ];
    let missed = result
        .list("/checks")
        .iter()
        .filter(|check| check.pointer("/passed") == Some(&Value::Bool(false)))
        .count();
    if missed > 0 {
        section.means.push(format!(
            "{missed} of the goals are not met yet; they are in the table."
        ));
    }
    section.means.push("A hit is answered without a backend and without a task; a recorded miss reads the request, looks it up, leads a flight and keeps the answer, which `proxy_pass` does not.".to_owned());
    section.means.extend(bench::notes(&result));
    section.glance = glance(cpu, first, result.number("/measured/idle_mib"));
    Ok(Some(section))
}

fn glance(cpu: &[Value], first: &[Value], idle: Option<f64>) -> Vec<[String; 2]> {
    let of = |list: &[Value], key: &str, name: &str, pointer: &str| {
        list.iter()
            .find(|entry| entry.text(key) == name)
            .and_then(|entry| entry.number(pointer))
    };
    let path = |name: &str| {
        let us = of(cpu, "/path", name, "/cpu_us/median");
        let by = of(cpu, "/path", name, "/by_nginx/median");
        us.zip(by)
            .map(|(us, by)| format!("{us:.0} µs, {by:.1} × nginx's"))
    };
    let way = |name: &str| {
        of(first, "/way", name, "/behind_p50_us").map(|us| format!("{:.2} ms", us / 1e3))
    };
    let rows = [
        (
            "CPU of an exact hit, one core",
            path("front end, exact hit"),
        ),
        (
            "CPU of a request that is passed on",
            path("front end, bypassed"),
        ),
        (
            "CPU of a request whose answer is kept",
            path("front end, recorded miss"),
        ),
        (
            "first byte of a stream behind the backend's, p50 (nginx)",
            way("front end, recorded miss")
                .zip(way("nginx, proxy_pass"))
                .map(|(own, nginx)| format!("{own} ({nginx})")),
        ),
        ("memory when idle", idle.map(|mib| format!("{mib:.1} MiB"))),
    ];
    rows.into_iter()
        .filter_map(|(what, figure)| Some([what.to_owned(), figure?]))
        .collect()
}

fn cpu_chart(cpu: &[Value]) -> Bars {
    let groups = cpu.iter().map(|path| {
        let us = |pointer: &str| path.number(pointer).unwrap_or(f64::NAN);
        Group {
            name: path.text("/path").to_owned(),
            bars: vec![Bar {
                value: us("/cpu_us/median"),
                reach: Some((us("/cpu_us/least"), us("/cpu_us/most"))),
            }],
        }
    });
    Bars {
        id: "overhead_cpu",
        title: "CPU time a request, one core",
        description: "User and kernel time of the whole process a request, the median of the rounds with the least and the most.".to_owned(),
        x: "µs a request",
        unit: "µs",
        series: vec!["CPU"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    }
}

fn first_chart(first: &[Value]) -> Bars {
    let groups = first.iter().map(|way| {
        let ms = |pointer: &str| Bar::new(way.number(pointer).unwrap_or(f64::NAN) / 1e3);
        Group {
            name: way.text("/way").to_owned(),
            bars: vec![ms("/behind_p50_us"), ms("/behind_p99_us")],
        }
    });
    Bars {
        id: "overhead_first_byte",
        title: "First byte of a stream behind the backend's",
        description: "How long after the backend's first byte of a stream the caller has his, half of the time and 99 times of 100.".to_owned(),
        x: "ms behind the backend",
        unit: "ms",
        series: vec!["p50", "p99"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    }
}
