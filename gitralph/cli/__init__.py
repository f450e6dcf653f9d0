"""The command line: options, environment and output; no rules live here."""
