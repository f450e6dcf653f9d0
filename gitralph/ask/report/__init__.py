"""``git ralph report``: ``gather`` collects facts from state and git, ``page`` makes one HTML page."""
