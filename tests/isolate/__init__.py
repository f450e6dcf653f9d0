"""The separation alone: hand cases, several owners, properties, a simulator with its own ground truth."""
