"""Many clones of one git remote: who works on which bead, and who wrote which line.

The remote's refs are all there is between the members. A claim is a commit that a ref of its own points
at, swapped by a push that says what it expects (``--force-with-lease``); whoever finds his own commit there
when he asks back has the bead. ``gitralph-fleet(7)`` is the protocol, with what every failure leads to.

Measured with git 2.39: fifty clones that create one ref by an empty lease have one winner, in 16 of 16
races; when they push the *same* object, 16 to 27 believe that they won, so every claim holds a nonce. A
server that ignores its own compare-and-set (dulwich 1.2) told 4 to 14 of 16 that they had won; asked back,
one had it in 12 of 12.

What others wrote into the remote is foreign bytes: every oid, ref, trailer and line is bounded and checked
where it is read (``claim``, ``allow_list``), and decides nothing about a commit here.
"""
