"""One session's commits as a branch of their own: ``history`` reads, ``replay`` decides, ``make`` lands."""
