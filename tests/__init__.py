"""Tests of gitralph; ``tests.support`` is what they share."""
