"""Many clones and one remote: claims, logs, landings, and servers that fail or lie."""
