"""Random days of git around the tool: sessions, a human, every verb that moves HEAD, index or files.

`python -m tests.days --seed N --steps M --trace` plays one day; `--reduce` prints a fault as the fewest
steps that still show it.
"""
