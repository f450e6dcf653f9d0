"""Whose the changes of a shell command are."""
