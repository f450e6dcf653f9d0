"""Whose each line of a file is, and what one session commits of it; pure.

Texts and recorded steps go in, frozen values come out. Nothing here opens a file or knows git.

**A commit takes lines whose state differs between HEAD and the file on disk, as `git add -p` does; the
records only say whose each one is.**

Words
    line      one line that ever stood at a path, in one order of all (the weave: M. J. Rochkind, "The Source
              Code Control System", IEEE TSE 1(4), 1975). That the file exists, and the newline at its end,
              are lines too
    in HEAD, on disk    the two bits of a line
    added, removed      on disk only; in HEAD only. In both it is context, in neither history
    step      one recorded edit
    gap       a step that nobody recorded
    owner     of an added line who brought it last, of a removed one who took it last
    piece     what one step did in one place and still shows: the smallest thing a commit takes
    bond      a piece that cannot go without another: built on it

Rooms
    pieces    the lines with their bits and owners
    choose    which pieces one session commits, or what stands in the way
    net       three counts and a look at the blocks of a finished answer, which share nothing with the rest
"""
