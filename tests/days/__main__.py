"""`python -m tests.days`: play days, count, trace and reduce; see `--help`."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from tests.days.play import Tally, play
from tests.days.reduce import reduce
from tests.days.steps import Day, draw, parse, with_own_commits, with_work_again


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(prog="python -m tests.days", description=__doc__)
    made.add_argument("--seed", type=int, default=1, help="the first seed")
    made.add_argument("--steps", type=int, help="how many steps in all; with --trace: in the one day")
    made.add_argument("--days", type=int, help="how many days, instead of --steps")
    made.add_argument("--jobs", type=int, default=1, help="processes")
    made.add_argument("--shells", action="store_true", help="some sessions work by their shells")
    made.add_argument("--persons", action="store_true", help="a person commits by --mine, too")
    made.add_argument("--again", action="store_true", help="what was taken back is done again")
    made.add_argument("--trace", action="store_true", help="print every step of one day")
    made.add_argument("--reduce", nargs="?", const="", metavar="NAME", help="reduce the day's (first) fault")
    made.add_argument("--survey", type=int, metavar="N", help="reduce up to N days of each fault found")
    made.add_argument("--skip", default="", help="fault classes that --survey does not reduce")
    made.add_argument("--replay", metavar="FILE", help="play steps as --reduce prints them")
    made.add_argument("--pass", dest="passed", default="", help="fault classes that do not end a day")
    return made.parse_args()


Kinds = tuple[bool, bool, bool]
"""Whether days have shells, a person who commits by `--mine`, and work that is done again."""
Job = tuple[int, Kinds, frozenset[str]]
"""A seed, the kinds of its day, and faults that do not end it."""


def _drawn(seed: int, steps: int | None, kinds: Kinds) -> Day:
    shells, persons, again = kinds
    day = replace(draw(seed, steps), shells=shells)
    day = with_work_again(day) if again else day
    return with_own_commits(day) if persons else day


def _kinds(options: argparse.Namespace) -> Kinds:
    return options.shells, options.persons, options.again


def _one(job: Job) -> Tally:
    seed, kinds, passed = job
    try:
        return play(_drawn(seed, None, kinds), passed=passed)
    except Exception as error:  # the model itself failed: say where
        raise RuntimeError(f"seed {seed}: {error!r}") from error


def _days(options: argparse.Namespace, passed: frozenset[str]) -> Iterator[Job]:
    seed = options.seed
    while options.days is None or seed < options.seed + options.days:
        yield seed, _kinds(options), passed
        seed += 1


def _many(options: argparse.Namespace, passed: frozenset[str]) -> Tally:
    total, began = Tally(), time.monotonic()
    with multiprocessing.Pool(options.jobs, maxtasksperchild=20) as pool:
        for found in pool.imap_unordered(_one, _days(options, passed), 1):
            total.add(found)
            for seed, step, fault in found.faults:
                print(f"seed {seed} step {step}: {fault}", flush=True)
            if options.days is None and total.steps >= (options.steps or 2000):
                pool.terminate()
                break
    took = time.monotonic() - began
    print(f"{took:.0f} s, {1000 * took / max(total.steps, 1):.1f} ms a step", flush=True)
    return total


def _survey(options: argparse.Namespace, passed: frozenset[str], total: Tally) -> None:
    """Print the smallest days for each fault, N of each."""
    by_name: dict[str, list[int]] = {}
    for seed, _, fault in sorted((*total.faults, *total.needless_at), key=lambda row: row[1]):
        if fault.kind in options.skip.split(","):
            continue
        seeds = by_name.setdefault(fault.name, [])
        if seed not in seeds:
            seeds.append(seed)
    jobs = [(s, name, passed) for name, seeds in by_name.items() for s in seeds[: options.survey]]
    with multiprocessing.Pool(options.jobs, maxtasksperchild=5) as pool:
        for text in pool.imap_unordered(_reduced, jobs, 1):
            print("\n" + text, flush=True)


def _reduced(job: tuple[int, str, frozenset[str]]) -> str:
    seed, name, passed = job
    smallest = reduce(draw(seed), name)
    if smallest is None:
        return f"## {name}: seed {seed} does not show it again"
    said: list[str] = []
    play(smallest, tell=said.append, passed=passed)
    trace = "\n".join(said)
    return f"## {name}\n{_shown(smallest)}\n### trace\n{trace}"


def _shown(day: Day) -> str:
    head = f"# seed={day.seed} lines={','.join(map(str, day.lines))} noise={day.noise} crlf={int(day.crlf)}"
    head += " shells=1" if day.shells else ""
    return head + "\n" + "\n".join(map(str, day.steps))


def _parsed(text: str) -> Day:
    head, _, rest = text.partition("\n")
    facts = dict(word.split("=") for word in head.split()[1:])
    lines = tuple(map(int, facts["lines"].split(",")))
    made = Day(int(facts["seed"]), parse(rest), lines, int(facts["noise"]), facts["crlf"] == "1")
    return replace(made, shells="shells" in facts)


def days_of(text: str) -> dict[str, Day]:
    """Days by their title, from a text of sections as --survey prints them."""
    found = {}
    for section in text.split("## ")[1:]:
        title, _, rest = section.partition("\n")
        found[title] = _parsed(rest.strip())
    return found


def main() -> int:
    options = _options()
    passed = frozenset(options.passed.split(",")) if options.passed else frozenset()
    if options.replay:
        with open(options.replay) as file:
            day = _parsed(file.read())
        found = play(day, tell=print, passed=passed)
    elif options.reduce is not None:
        day = _drawn(options.seed, options.steps, _kinds(options))
        names = [fault.name for _, _, fault in play(day, passed=passed).faults]
        name = options.reduce or (names[-1] if names else "")
        smallest = reduce(day, name) if name else None
        if smallest is None:
            print("nothing to reduce")
            return 1
        print(_shown(smallest))
        found = play(smallest, tell=print, passed=passed)
    elif options.trace:
        day = _drawn(options.seed, options.steps, _kinds(options))
        found = play(day, tell=print, passed=passed)
    else:
        found = _many(options, passed)
        if options.survey:
            print(found)
            _survey(options, passed, found)
            return int(bool(found.faults))
    print(found)
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
