"""Runs the real clients, pinned, from npm, against a scripted model on the loopback device.

The driver lies beside the checkout (``../shared/tools``); where it, npm or the clients cannot be had,
the tests say so loudly and are skipped. The clients are kept in a cache between runs:
``GITRALPH_CLIENTS``, by default ``~/.cache/gitralph-clients``.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# npm finds its registry and its cache through the environment of whoever runs the tests
OUTER = dict(os.environ)
SHARED = OUTER.get("GITRALPH_SHARED") or Path(__file__).resolve().parents[3] / "shared"
TOOLS = Path(SHARED) / "tools"
DRIVER = TOOLS / "real_client.py"
CACHE = Path(OUTER.get("GITRALPH_CLIENTS") or Path.home() / ".cache/gitralph-clients")
_UNREACHABLE = 3
_SLOWEST = 60.0
_INSTALLING = 240.0

Turn = dict[str, Any]


def call(name: str, **given: object) -> Turn:
    """A turn of the model with one tool call."""
    return {"calls": [{"name": name, "input": given}]}


def together(*turns: Turn) -> Turn:
    """One turn with the calls of several: the client runs them in parallel."""
    return {"calls": [one for turn in turns for one in turn["calls"]]}


@dataclass
class Run:
    """A client at work; :meth:`report` waits for its end."""

    name: str
    child: "subprocess.Popen[bytes]"

    def report(self) -> dict[str, Any]:
        """The driver's document. Skips the test when the client could not be installed."""
        out, err = self.child.communicate(timeout=_SLOWEST * 10)
        if self.child.returncode == _UNREACHABLE:
            last = err.decode("utf-8", "replace").strip().splitlines()[-1:]
            pytest.skip(f"NOT TESTED WITH THE REAL {self.name}: {''.join(last)}")
        assert out, err.decode("utf-8", "replace")
        found: dict[str, Any] = json.loads(out)
        return found


@dataclass
class Stage:
    """A repository and a HOME in which real clients run with the hooks that were installed there."""

    repo: Path
    home: Path
    scratch: Path

    @property
    def environ(self) -> dict[str, str]:
        """What a user who starts the clients has: a HOME, and git-ralph on PATH."""
        path = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8"}

    def ralph(self, *args: str, code: int = 0, cwd: Path | None = None) -> str:
        """``git ralph <args>`` as that user; returns its output."""
        done = subprocess.run(
            ["git", "ralph", *args], cwd=cwd or self.repo, env=self.environ, capture_output=True, check=False
        )
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape")

    def start(
        self,
        client: str,
        turns: Sequence[Turn],
        *extra: str,
        env: Mapping[str, str] | None = None,
        tool: bool = True,
        others: Sequence[Turn] = (),
    ) -> Run:
        """Start a client on a script; several may run at once. ``tool``: whether git-ralph is on PATH.

        ``others`` are conversations of subagents, tried first.
        """
        name = f"{client}-{len(list(self.scratch.iterdir()))}"
        script = self.scratch / f"{name}.json"
        main = {"name": "main", "turns": [*turns, {"text": "All done."}]}
        script.write_text(json.dumps({"conversations": [*others, main]}))
        words = [
            sys.executable,
            str(DRIVER),
            client,
            "--repo",
            str(self.repo),
            "--script",
            str(script),
            "--install-dir",
            str(CACHE),
            "--home",
            str(self.home),
            "--output",
            str(self.scratch / f"{name}.out"),
            "--timeout",
            str(_SLOWEST),
            *extra,
        ]
        for key, value in (env or {}).items():
            words += ["--env", f"{key}={value}"]
        if tool:
            words += ["--env", f"PATH={sysconfig.get_path('scripts')}"]
        pipe = subprocess.PIPE
        return Run(client, subprocess.Popen(words, env=OUTER, stdout=pipe, stderr=pipe))

    def run(self, client: str, turns: Sequence[Turn], *extra: str, **how: Any) -> dict[str, Any]:
        """Run a client to its good end."""
        return finished(self.start(client, turns, *extra, **how))


def finished(run: Run) -> dict[str, Any]:
    """The report of a run that must have ended well."""
    report = run.report()
    assert report["exit_code"] == 0, report
    assert not report["failures"], report
    return report


# two test processes must not install into one folder at once
_INSTALL = """
import fcntl, pathlib, sys
sys.path.insert(0, sys.argv[1])
import real_client as driver
cache = pathlib.Path(sys.argv[2])
cache.mkdir(parents=True, exist_ok=True)
with open(cache / ".lock", "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        for name in sys.argv[3:]:
            recipe = driver.CLIENTS[name]
            driver.node_dir(cache, recipe.node)
            driver.install(cache / name, recipe.package, recipe.version)
    except (driver.InstallError, driver.subprocess.SubprocessError, OSError) as error:
        sys.exit(str(error))
"""


@cache
def why_not(*names: str) -> str | None:
    """Install the clients unless they are there; why they cannot be had, None when they can."""
    if not DRIVER.exists():
        return f"no driver at '{DRIVER}'"
    impatient = {"npm_config_fetch_retries": "1", "npm_config_fetch_timeout": "30000"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _INSTALL, str(TOOLS), str(CACHE), *names],
            env={**impatient, **OUTER},
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALLING,
        )
    except subprocess.TimeoutExpired:
        return f"npm took longer than {_INSTALLING:.0f} s"
    said = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else (said[-1] if said else "the installation failed")


def need(*names: str) -> None:
    """Skip, loudly, where the driver or the clients cannot be had."""
    reason = why_not(*names)
    if reason is not None:
        pytest.skip(f"NOT TESTED WITH REAL AGENTS ({', '.join(names)}): {reason}")
