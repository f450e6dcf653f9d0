"""One test a criterion, its number in the name; black box but for running in process."""
