"""Whose each line of a file is, and what one session commits of it; pure.

**A commit takes lines whose state differs between HEAD and the file on disk, as `git add -p` does; the
records only say whose each one is.** Nothing asks what git did meanwhile: a stash, a checkout, a reset or a
person's `commit -a` all show as two bits of a line. Nothing that earlier commits took decides anything.

Words
    line      one line that ever stood at a path, in one order of all (the weave: M. J. Rochkind, "The Source
              Code Control System", IEEE TSE 1(4), 1975). That the file exists, and the newline at its end,
              are lines too
    added     on disk and not in HEAD; `removed` is the reverse, `context` is in both, `history` in neither
    step      one recorded edit
    gap       a change that nobody recorded
    hunk      what a step did in one place
    piece     hunks of one step that go together or not at all (a unit of the weave)
    credit    the hunk that made a line what it is
    owner     whose the credited hunk is: who brought an added line, who took a removed one
    bond      why a piece cannot go without another
    settled   gone already from a text that HEAD had

An example
    HEAD has `host`, `port 80`, `path`. Session s1 writes `port 8080 open` for `port 80`, s2 adds `user root`,
    and a person mends `open` to `opened` in an editor. The weave then has six lines:

        line               in HEAD   on disk
        host               yes       yes        context
        port 80            yes       no         removed by s1
        port 8080 open     no        no         history: s1 brought it, the gap took it
        port 8080 opened   no        yes        added by nobody
        path               yes       yes        context
        user root          no        yes        added by s2

    s1 commits HEAD less the lines it removed, plus those it added. What nobody recorded keeps half of the
    words that s1 had brought, so whoever wrote it saw the line, and it follows: `host`, `port 8080 opened`,
    `path`, with a trailer that names it. s2 commits `host`, `port 80`, `path`, `user root`. In either order
    HEAD ends as the file.

    Had s2 written `port 8080 opened` itself, its piece would be built on one that HEAD lacks, and wait; s1
    would commit `port 8080 open` from the record, for s2's edit to go on top of later, or each would wait for
    the other. Had a person taken the line out, it would be gone.

What is done, in this order
    fold         steps and the gaps between them are taken into a weave; a gap that leads back to a text of
                 whole pieces (`whole`) brings the very lines back
    pieces       each change gets its credit. Who only brings back what another wrote is credited with
                 nothing, unless HEAD had that: so names survive a stash and its pop
    place_head   HEAD finds its lines: those of a text the file had, or what it shares with the file and, in
                 between, with lines that are gone. What is left is HEAD's own, and nobody's to remove
    choose       the owners' pieces, what follows them and what is superseded; bonds are what stands in the
                 way. Its head has the rules
    net          looks at the finished text, and shares nothing with all that: a fault above is a refusal and
                 not a wrong line
"""
