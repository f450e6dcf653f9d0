"""The separation alone: hand cases, one file with several owners, properties, and a simulator with its own ground truth."""
