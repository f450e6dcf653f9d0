"""Makes an agent's plain ``git commit`` hold its own session's lines: git's hooks, one after the other.

``narrow`` decides in ``pre-commit`` and exchanges the index that git reads; ``after_pre_commit`` gives the
user's index back, signs the message and logs what it took; ``whose_commit`` tells whose commit it is. What a
kill leaves is settled by ``recover_narrowed``.
"""
