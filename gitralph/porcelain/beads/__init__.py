"""The bridge to the bead tracker: reads what a bead is, claims and closes it when asked, and only warns."""
