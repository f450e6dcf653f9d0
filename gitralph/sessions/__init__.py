"""Which session is meant, and what is said of one: its name, its claims by hand, its end."""
