"""The fuzzers of all readers: `python -m tests.fuzz --cases 10000 --seed 1 --report fuzz.json`.

Each target runs in a process of its own, so that a crash is seen, and the memory is that of one reader. The exit code
is 1 if something happened that must not happen; its files are kept in the folder of findings.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import REPORT_NAME
from tests.fuzz.targets import TARGETS

MOST_BYTES = 2 << 30
"""A reader with TensorFlow, Keras and all that it reads stays below."""


def main() -> int:
    """Run all targets, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one target")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="folder for files of failures")
    parser.add_argument("--report", type=Path, help="JSON file for the figures")
    options = parser.parse_args()

    began = time.monotonic()
    shares = {name: share for name, (_, share) in TARGETS.items() if options.only in (None, name)}
    whole = sum(shares.values())
    reports = []
    for name, share in shares.items():
        reports.append(_run(name, round(options.cases * share / whole), options.seed, options.findings))
        print(_line(reports[-1]), flush=True)
    seconds = time.monotonic() - began
    failures = sum(map(_num_failures, reports))
    cases = sum(report["cases"] for report in reports)
    print(f"{cases} cases in {seconds:.0f} s, seed {options.seed}: {failures} failures")
    if options.report:
        record = {"seed": options.seed, "cases": cases, "seconds": round(seconds), "targets": reports}
        options.report.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(failures > 0)


def _run(name: str, cases: int, seed: int, findings: Path) -> dict:
    """Run a target in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        folder_of_findings = findings.absolute() / name.replace(" ", "-")
        arguments = [name, folder, str(folder_of_findings), str(cases), str(seed)]
        command = [sys.executable, "-m", "tests.fuzz.campaign", *arguments]
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode == 0:
            return json.loads(Path(folder, REPORT_NAME).read_text(encoding="utf-8"))
        folder_of_findings.mkdir(parents=True, exist_ok=True)
        for case in Path(folder).glob("case*"):  # the one that killed the process
            (folder_of_findings / f"crash-{case.name}").write_bytes(case.read_bytes())
        print(process.stderr[-2000:], file=sys.stderr)
        return {"name": name, "cases": cases, "crash": process.returncode}


def _num_failures(report: dict) -> int:
    if "crash" in report:
        return 1
    kinds = sum(report["unexpected"].values()) + report["wrong"] + report["hangs"] + report["too_long"]
    return kinds + (report["peak_bytes"] > MOST_BYTES)


def _line(report: dict) -> str:
    if "crash" in report:
        return f"{report['name']:18} the process ended with {report['crash']}"
    refused = ", ".join(f"{count} {kind}" for kind, count in report["refused"].items())
    return (
        f"{report['name']:18} {report['cases']:6} cases: {report['accepted']:5} read, {refused}; "
        f"{sum(report['unexpected'].values())} unexpected {report['unexpected'] or ''}, {report['wrong']} wrong, "
        f"{report['hangs']} hangs, {report['too_long']} long messages; slowest {report['slowest_seconds']:.2f} s, "
        f"longest message {report['longest_message']}, {report['peak_bytes'] / 2**20:.0f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
