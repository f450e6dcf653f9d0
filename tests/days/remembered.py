"""Answers of git that cannot change during a day, remembered: three processes less for each call.

Where the repository lies, git's version, the configuration (by the stamp of its file). What a day
tests is asked of git each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from gitralph.git import repository
from gitralph.git.config import Config
from gitralph.git.run import Git


@contextmanager
def remembered(config_file: str) -> Iterator[None]:
    """While it lasts, git is asked for these facts once."""
    facts: dict[str, Any] = {}
    configs: dict[tuple[int, int, int], Config] = {}
    ask, load = repository.ask_facts, Config.load

    def remembered_facts(git: Git) -> tuple[list[str], bytes]:
        where = git.cwd or os.getcwd()
        if where not in facts:
            facts[where] = ask(git)
        lines, complaint = facts[where]
        return list(lines), complaint

    def remembered_config(git: Git) -> Config:
        found = os.stat(config_file)
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if stamp not in configs:
            configs[stamp] = load(git)
        return configs[stamp]

    with (
        mock.patch.object(repository, "ask_facts", remembered_facts),
        mock.patch.object(Config, "load", staticmethod(remembered_config)),
    ):
        yield
