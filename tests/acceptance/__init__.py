"""What a user was promised, black box but for running in process."""
