"""A user's home with agents' settings in it, and ``git ralph`` run there, outside any repository."""

import json
import os
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.support import runner
from tests.support.runner import Done


def ours(data: bytes) -> list[tuple[str, str | None]]:
    """Event and matcher of each of our handlers."""
    hooks = json.loads(data.decode("utf-8-sig"))["hooks"]
    return [
        (event, group.get("matcher"))
        for event, groups in hooks.items()
        for group in groups
        for handler in group["hooks"]
        if handler["command"] == "git ralph hook claude-code"
    ]


def with_tool_on_path(environ: dict[str, str]) -> dict[str, str]:
    """The environment with the folder of ``git-ralph`` in front of PATH, as an agent's shell has it."""
    return {**environ, "PATH": f"{sysconfig.get_path('scripts')}:{environ.get('PATH', os.defpath)}"}


@dataclass
class Home:
    """``root`` is the home; ``env`` what commands run in; ``cwd`` where."""

    root: Path
    env: dict[str, str]
    cwd: Path

    def ralph(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> Done:
        """Run ``git ralph`` in this home and expect an exit code."""
        done = runner.in_process(args, cwd=str(self.cwd), env={**self.env, **(env or {})})
        assert b"Traceback" not in done.err, done.said
        assert b"internal error" not in done.err, done.said
        assert done.code == code, f"git ralph {' '.join(args)}: {done.code}\n{done.text}\n{done.said}"
        return done

    def write(self, path: str, data: str | bytes) -> Path:
        """Write a file below the home; folders are made."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def read(self, path: str) -> bytes:
        """A file below the home."""
        return (self.root / path).read_bytes()

    def tree(self) -> dict[str, bytes | None]:
        """Everything below the home but git's own file: folders as None, links by where they lead."""
        out: dict[str, bytes | None] = {}
        for path in sorted(set(self.root.rglob("*")) - {self.root / ".gitconfig"}):
            name = str(path.relative_to(self.root))
            if path.is_symlink():
                out[name] = os.fsencode(os.readlink(path))
            else:
                out[name] = None if path.is_dir() else path.read_bytes()
        return out
