"""Which session is meant, and what a person says of a session: its name, its claims, its end."""
