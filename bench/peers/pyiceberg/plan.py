"""A peer of the bench: plans a table with PyIceberg, once for every line `plan` on standard input.

Usage: `plan.py METADATA_JSON FILTER`. The protocol is described in `../README.md`.
"""

import json
import sys
import time

from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, GreaterThanOrEqual, LessThan
from pyiceberg.table import StaticTable


def main() -> None:
    if len(sys.argv) != 3:
        raise ValueError("Usage: plan.py METADATA_JSON FILTER")
    table = StaticTable.from_metadata(sys.argv[1])
    row_filter = parse_filter(sys.argv[2])
    print("ready", flush=True)
    # Not `for line in sys.stdin`, which may wait for more lines than one.
    while line := sys.stdin.readline():
        if line.strip() != "plan":
            raise ValueError(f'Cannot obey {line.strip()!r}: the only word is "plan"')
        print(json.dumps(plan(table, row_filter)), flush=True)


def parse_filter(text: str) -> BooleanExpression:
    """`none`, `days:FROM..UNTIL` (ts >= FROM and ts < UNTIL) or `ids:N` (id < N)."""
    if text == "none":
        return AlwaysTrue()
    kind, _, value = text.partition(":")
    if kind == "days" and ".." in value:
        since, until = value.split("..")
        return And(GreaterThanOrEqual("ts", since), LessThan("ts", until))
    if kind == "ids":
        return LessThan("id", int(value))
    raise ValueError(f"Cannot filter by {text!r}: it is none, days:FROM..UNTIL or ids:N")


def plan(table: StaticTable, row_filter: BooleanExpression) -> dict[str, float | int | None]:
    """Plans once, from the manifest list to the last task."""
    deletes = records = path_length = tasks = 0
    first_task_ms = None
    started = time.perf_counter()
    # A name of its own, so that the tasks are still there when memory is read, and are not freed within the time.
    planned = table.scan(row_filter=row_filter).plan_files()
    for task in planned:
        if first_task_ms is None:
            first_task_ms = (time.perf_counter() - started) * 1e3
        tasks += 1
        deletes += len(task.delete_files)
        records += task.file.record_count
        path_length += len(task.file.file_path)
    elapsed_ms = (time.perf_counter() - started) * 1e3
    return {
        "ms": elapsed_ms,
        "tasks": tasks,
        "deletes": deletes,
        "records": records,
        "firstTaskMs": first_task_ms,
        "rssMiB": resident_mebibytes(),
    }


def resident_mebibytes() -> int | None:
    """Resident memory now, or None where the system has no /proc."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith("VmRSS:")]
    except FileNotFoundError:
        return None
    return int(lines[0].split()[1]) // 1024 if lines else None


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(error, file=sys.stderr)
        sys.exit(1)
