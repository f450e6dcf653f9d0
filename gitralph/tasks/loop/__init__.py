"""The loop of ``git ralph run``: each open task of a plan gets a session, an agent, one commit, a tick.

``schedule`` decides what runs when and keeps the run's record; ``work`` takes one task through the
agent and the checks, ``land`` through commit and tick; ``child`` is the only place that starts and
stops programs. A step is on disk before it is taken, so a killed loop goes on where it was.
"""
