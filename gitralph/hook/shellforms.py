"""What the notes on shell commands say of a file that is as in HEAD, and of one that nobody looked at.

Fast lane. Apart from ``shellwatch``, so that who reads the notes need not load who writes them.
"""

CLEAN = "="
UNKNOWN = "?"
