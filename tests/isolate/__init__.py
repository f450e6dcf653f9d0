"""The separation alone: hand cases, criteria, properties, and a simulator with its own ground truth."""
