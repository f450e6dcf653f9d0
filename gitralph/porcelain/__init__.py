"""What each command does: returns results and raises errors, never parses argv or prints."""
