"""The fast lane: what an agent's hook loads, from payload to appended record; the standard library only."""
