"""Registering hooks with agents, and proving that they record."""
