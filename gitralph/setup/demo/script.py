"""Who writes what in ``git ralph demo``, and what each commit must therefore hold; data that starts nothing.

The demo's self-check knows only this module, never what gitralph says of itself.
"""

from dataclasses import dataclass

CLAUDE, PI, HUMAN = "claude-1", "pi-1", "the human"
SHARED = "INDEX.md"
STAGED = "settings.ini"


@dataclass(frozen=True)
class StoryEdit:
    """One edit in whole lines; ``old`` None creates the file with ``new``."""

    path: str
    old: str | None
    new: str

    def apply(self, text: str | None) -> str:
        """The file after this edit. Raises ValueError where it does not fit."""
        if self.old is None:
            return self.new
        if text is None or text.count(self.old) != 1:
            raise ValueError(f"'{self.path}' does not hold the text to replace once")
        return text.replace(self.old, self.new)


BASE = {
    SHARED: (
        "# Index\n\n- about: what this is\n- install: how to get it\n- licence: MIT\n- contact: an issue\n"
    ),
    "src/app.py": "def main():\n    return 0\n",
    "docs/install.md": "Run the installer.\n",
    "notes.txt": "nothing yet\n",
    STAGED: "[server]\ntimeout = 10\n",
}

EDITS: dict[str, list[StoryEdit]] = {
    CLAUDE: [
        StoryEdit("src/routes.py", None, 'ROUTES = ["/", "/health"]\n'),
        StoryEdit(
            SHARED,
            "- about: what this is\n",
            "- about: what this is\n- routes: src/routes.py\n- entry: src/app.py\n",
        ),
        StoryEdit("src/app.py", "    return 0\n", "    return len(ROUTES)\n"),
    ],
    PI: [
        StoryEdit("docs/guide.md", None, "# Guide\n\nStart here.\n"),
        StoryEdit("docs/install.md", "Run the installer.\n", "Run `make install`.\n"),
        StoryEdit(SHARED, "- contact: an issue\n", "- contact: an issue\n- guide: docs/guide.md\n"),
    ],
    HUMAN: [
        StoryEdit("notes.txt", "nothing yet\n", "call the printer\n"),
        StoryEdit(SHARED, "- licence: MIT\n", "- licence: MIT, see LICENSE\n"),
    ],
}

# What the human has staged when the agents commit, and commits alone with a plain ``git commit``.
STAGED_EDIT = StoryEdit(STAGED, "timeout = 10\n", "timeout = 30\n")

SUBJECTS = {CLAUDE: "Add the routes", PI: "Write the guide", HUMAN: "Keep notes"}
STAGED_SUBJECT = "Raise the timeout"

Lines = dict[str, tuple[list[str], list[str]]]


def lines_of(edits: list[StoryEdit]) -> Lines:
    """Per path the lines that these edits add and the lines they take away, both sorted."""
    found: Lines = {}
    for edit in edits:
        old, new = (edit.old or "").splitlines(), edit.new.splitlines()
        added, removed = found.setdefault(edit.path, ([], []))
        added += [line for line in new if line not in old]
        removed += [line for line in old if line not in new]
    return {path: (sorted(added), sorted(removed)) for path, (added, removed) in found.items()}


def author_of(line: str) -> str | None:
    """Who wrote a line of the shared file, None for one that was there before."""
    for author, edits in EDITS.items():
        if line in lines_of(edits).get(SHARED, ([], []))[0]:
            return author
    return None
