"""What the tests share: a sealed environment, a repository with real git, closing checks, payloads.

* ``sealed``: the environment every test runs in, and the guard of the real home.
* ``runner``: ``git ralph`` in this process (fast) or as one of its own.
* ``repo``: :class:`~tests.support.repo.Repo`, the fixture ``repo`` hands out.
* ``checks``: :func:`~tests.support.checks.closing_checks`, run around every ``repo.commit``.
* ``payloads``: what agents send to ``git ralph hook``.
"""
