"""The loop of ``git ralph run``: each open task of a plan gets a session, an agent, one commit, a tick.

``start`` begins or resumes; ``plan_tasks`` says which task comes next, ``schedule`` what runs when; ``work``
takes one through the agent and the checks, ``task_landing`` through commit and tick. ``ledger`` has each step
on disk before it is taken, so a killed loop goes on where it was; ``runs`` and ``summary`` are for who looks.
"""
