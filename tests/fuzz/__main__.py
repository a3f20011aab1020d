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

MOST_BYTES = 2 << 30
"""A reader with TensorFlow, Keras and all that it reads stays below."""

_SHARES = {
    "configurations": 0.3, "overrides": 0.15, "texts": 0.15, "compressed texts": 0.08, "zip archives": 0.04,
    "tar archives": 0.05, "vocabularies": 0.06, "environments": 0.05, "measurements": 0.05, "evaluations": 0.02,
    "checkpoints": 0.04, "models": 0.01,
}  # fmt: skip


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
    shares = {name: share for name, share in _SHARES.items() if options.only in (None, name)}
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
        code = (
            "import json, sys\nfrom pathlib import Path\nfrom tests.fuzz.campaign import Campaign\n"
            "from tests.fuzz.targets import target_class\nname, folder, findings, cases, seed = sys.argv[1:]\n"
            "target = target_class(name)(Path(folder))\n"
            "report = Campaign(target, Path(findings)).run(int(cases), int(seed))\n"
            "Path(folder, 'report.json').write_text(json.dumps(report.to_dict()))\n"
        )
        arguments = [name, folder, str(folder_of_findings), str(cases), str(seed)]
        process = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
        if process.returncode == 0:
            return json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))
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
