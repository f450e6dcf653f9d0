"""A session's commits as a branch of their own: ``since_base`` reads, ``replay`` decides, ``make`` lands."""
