"""What people read: the sentence for each reason, and the next command to type."""
