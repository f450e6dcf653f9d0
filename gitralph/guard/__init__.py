"""Makes an agent's plain ``git commit`` hold only its own session's lines, through git's hooks.

``narrow`` decides in ``pre-commit`` and exchanges the index that git reads. ``after_pre_commit`` gives the
user's index back, signs the message and logs what the commit took. ``whose_commit`` tells whose commit it is.
``recover_narrowed`` settles what a kill leaves. ``question`` judges a commit in the other modes, ``discards``
and ``discard`` deny commands that throw lines away, ``heads_up`` tells an agent whose lines it is about to
edit near.
"""
