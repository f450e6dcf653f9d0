"""Many clones of one git remote: who works on which bead, and who wrote which line.

A bead is one work item. The clones are the members of the fleet, and share nothing but the remote's refs.
Each bead has a ref for its claim, which is a commit. A member pushes his claim and says what he expects at
the ref (``--force-with-lease``). Then he reads the ref: whoever finds his own commit there has the bead.
``gitralph-fleet(7)`` is the protocol, with what every failure leads to.

Measured with git 2.39: of fifty clones that create one ref by an empty lease one wins, in 16 of 16 races.
When they push the *same* object, 16 to 27 believe that they won, so every claim holds a nonce. A server that
ignores its own compare-and-set (dulwich 1.2) told 4 to 14 of 16 that they had won. When they read the ref,
one had the bead, in 12 of 12 races.

Everything on the remote may be a stranger's. Every oid, ref, trailer and line is bounded and checked where it
is read (``claim``, ``allow_list``), and decides nothing about a commit here.
"""
