"""What people read: each reason's sentence, and the next command to type."""
