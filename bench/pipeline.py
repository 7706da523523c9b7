"""`python -m bench.pipeline [RECORDS]`: `casetape run --workers 1` against the bare loop, for a log and for one ten
times as long."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import traffic
from bench.bare import bare_loop

RECORDS = 100_000


def pipeline(path: Path, workers: int = 1) -> dict[str, float]:
    """The report of a run into an empty home."""
    home = Path(tempfile.mkdtemp(prefix="casetape-bench-"))
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "casetape",
                "run",
                str(path),
                "--json",
                "--home",
                str(home),
                "--workers",
                str(workers),
            ],
            check=True,
            capture_output=True,
        )
        report: dict[str, float] = json.loads(done.stdout)
        report["bytes_per_record"] = round(sum(file.stat().st_size for file in home.iterdir()) / report["fed"], 1)
        return report
    finally:
        shutil.rmtree(home)


def main() -> None:
    """Prints, for a log and one ten times as long, both rates and their ratio."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with tempfile.TemporaryDirectory(prefix="casetape-bench-") as folder:
        for count in (records, 10 * records):
            log = Path(folder) / f"{count}.log"
            traffic.write(log, count)
            bare = bare_loop(log)
            report = pipeline(log)
            rate, reached = bare.records / bare.seconds, report["observations_per_second"]
            print(
                f"{count:>10,} records: bare loop {rate:,.0f}/s, pipeline {reached:,.0f}/s, ratio {reached / rate:.2f};"
                f" {report['bytes_per_record']} bytes a record in the home; analyses {report['analyses']}",
                flush=True,
            )
            log.unlink()


if __name__ == "__main__":
    main()
