//! A peer of the bench: plans a table with iceberg-rust, once for every line `plan` on standard input.
//!
//! Usage: `iceplan-peer-rust METADATA_JSON FILTER [--no-cache]`. The protocol is described in `../README.md`; what
//! `--no-cache` switches off, in `README.md` beside this crate.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use futures::TryStreamExt;
use iceberg::expr::{Predicate, Reference};
use iceberg::io::FileIO;
use iceberg::spec::{Datum, TableMetadata};
use iceberg::table::Table;
use iceberg::{Runtime, TableIdent};
use serde_json::json;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() {
    if let Err(error) = serve() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// The runtime has its defaults: as many threads as cores. Standard input is read in this thread between plans.
#[tokio::main]
async fn serve() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (location, filter, cached) = match arguments.as_slice() {
        [location, filter] => (location, filter, true),
        [location, filter, flag] if flag == "--no-cache" => (location, filter, false),
        _ => return Err("Usage: iceplan-peer-rust METADATA_JSON FILTER [--no-cache]".into()),
    };
    let table = load_table(location, cached).await?;
    let predicate = parse_filter(filter)?;
    let mut output = std::io::stdout();
    writeln!(output, "ready")?;
    output.flush()?;
    for line in std::io::stdin().lock().lines() {
        match line?.trim() {
            "plan" => writeln!(output, "{}", plan(&table, predicate.as_ref()).await?)?,
            other => return Err(format!("Cannot obey {other:?}: the only word is \"plan\"").into()),
        }
        output.flush()?;
    }
    Ok(())
}

/// The same table that `StaticTable::from_metadata_file` makes, which has no way to switch the cache off.
async fn load_table(location: &str, cached: bool) -> Fallible<Table> {
    let file_io = FileIO::new_with_fs();
    let metadata = TableMetadata::read_from(&file_io, location).await?;
    let builder = Table::builder()
        .metadata(metadata)
        .metadata_location(location)
        .identifier(TableIdent::from_strs(["bench", "table"])?)
        .file_io(file_io)
        .runtime(Runtime::try_current()?)
        .readonly(true);
    let builder = if cached {
        builder
    } else {
        builder.disable_cache()
    };
    Ok(builder.build()?)
}

/// `none`, `days:FROM..UNTIL` (ts >= FROM and ts < UNTIL) or `ids:N` (id < N).
fn parse_filter(text: &str) -> Fallible<Option<Predicate>> {
    if text == "none" {
        return Ok(None);
    }
    if let Some((from, until)) = text
        .strip_prefix("days:")
        .and_then(|days| days.split_once(".."))
    {
        let from = Datum::timestamptz_from_str(from)?;
        let until = Datum::timestamptz_from_str(until)?;
        let since = Reference::new("ts").greater_than_or_equal_to(from);
        return Ok(Some(since.and(Reference::new("ts").less_than(until))));
    }
    if let Some(limit) = text.strip_prefix("ids:") {
        return Ok(Some(
            Reference::new("id").less_than(Datum::long(limit.parse::<i64>()?)),
        ));
    }
    Err(format!("Cannot filter by {text:?}: it is none, days:FROM..UNTIL or ids:N").into())
}

/// Plans once, from the manifest list to the last task; a scan keeps no more than the tasks under way.
async fn plan(table: &Table, predicate: Option<&Predicate>) -> Fallible<serde_json::Value> {
    let started = Instant::now();
    let mut scan = table.scan();
    if let Some(predicate) = predicate {
        scan = scan.with_filter(predicate.clone());
    }
    let mut stream = scan.build()?.plan_files().await?;
    let (mut tasks, mut deletes, mut records, mut first_task) = (0u64, 0u64, 0u64, None);
    while let Some(task) = stream.try_next().await? {
        first_task.get_or_insert_with(|| started.elapsed());
        tasks += 1;
        deletes += task.deletes.len() as u64;
        records += task.record_count.unwrap_or(0);
        black_box(task.data_file_path());
    }
    let elapsed = started.elapsed();
    Ok(json!({
        "ms": elapsed.as_secs_f64() * 1e3,
        "tasks": tasks,
        "deletes": deletes,
        "records": records,
        "firstTaskMs": first_task.map(|first| first.as_secs_f64() * 1e3),
        "rssMiB": resident_mebibytes(),
    }))
}

/// Resident memory now, or nothing where the system has no `/proc`.
fn resident_mebibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1024)
}
