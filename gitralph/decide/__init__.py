"""Whose each piece of each path is, and what of it a commit takes: read once, decided, nothing written."""
