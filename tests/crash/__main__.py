"""Kills, full disks and odd surroundings: `python -m tests.crash --kills 50 --seed 1 --report crash.json`.

The exit code is 1 if something happened that must not happen. Then the folders of that part are kept.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.crash.campaign import REPORT_NAME
from tests.crash.victims import VICTIMS

_OTHERS = {"full disk": "tests.crash.full_disk", "surroundings": "tests.crash.surroundings"}


def main() -> int:
    """Run all parts, print the result of each, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="of all commands together, or of the only one")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    parser.add_argument("--only", help=f"one of: {', '.join([*VICTIMS, *_OTHERS])}")
    parser.add_argument("--folder", type=Path, default=Path("crash-findings"), help="for everything that is written")
    parser.add_argument("--jobs", type=int, default=2, help="parts that run at the same time")
    parser.add_argument("--report", type=Path, help="JSON file for the figures")
    options = parser.parse_args()

    began = time.monotonic()
    shutil.rmtree(options.folder, ignore_errors=True)
    modules = {name: module for name, module in _OTHERS.items() if options.only in (None, name)}
    shares = {name: kills for name, (_, kills) in VICTIMS.items() if options.only in (None, name)}
    chosen = {name: [module, name] for name, module in modules.items()} | {
        name: [
            "tests.crash.campaign",
            name,
            str(round(options.kills * share / sum(shares.values()))),
            str(options.seed),
        ]
        for name, share in shares.items()
    }  # the longest ones first

    def run_and_say(name: str) -> dict:
        module, *arguments = chosen[name]
        report = _run(name, module, options.folder.absolute() / name.replace(", ", "-").replace(" ", "-"), arguments)
        print(_line(report), flush=True)
        return report

    with ThreadPoolExecutor(options.jobs) as threads:
        reports = list(threads.map(run_and_say, chosen))
    problems = [problem for report in reports for problem in _problems(report)]
    kills = sum(report.get("kills", 0) for report in reports)
    print(f"{kills} kills in {time.monotonic() - began:.0f} s, seed {options.seed}: {len(problems)} problems")
    for problem in problems:
        print(problem, file=sys.stderr)
    if options.report:
        options.report.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    return int(bool(problems))


def _run(name: str, module: str, folder: Path, arguments: list[str]) -> dict:
    """Run a part in a process of its own. Its folder stays if there is a problem."""
    folder.mkdir(parents=True)
    order = [arguments[0], str(folder), *arguments[1:]]
    process = subprocess.run([sys.executable, "-m", module, *order], capture_output=True, text=True)
    try:
        report = json.loads((folder / REPORT_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"name": name, "failed": [f"{name} ended with {process.returncode}: {process.stderr[-3000:]}"]}
    if not _problems(report):
        shutil.rmtree(folder)
    return report


def _problems(report: dict) -> list[str]:
    kinds = ("unwhole", "differing", "failed")
    return [f"{report['name']}: {problem}" for kind in kinds for problem in report.get(kind, [])]


def _line(report: dict) -> str:
    counts = {key: value for key, value in report.items() if key not in ("name", "figures")}
    counts |= report.get("figures", {})
    kinds = counts["cases"] if isinstance(counts.get("cases"), dict) else {}
    if kinds:
        counts["cases"] = sum(kinds.values())
    numbers = (f"{len(value) if isinstance(value, list) else round(value)} {key}" for key, value in counts.items())
    return "\n".join(
        [f"{report['name']:26} {', '.join(numbers)}", *(f"  {kind:24} {cases} cases" for kind, cases in kinds.items())]
    )


if __name__ == "__main__":
    sys.exit(main())
