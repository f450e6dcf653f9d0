"""Whose each line of a file is, and what one session commits of it; pure.

**A commit takes lines whose state differs between HEAD and the file on disk, as `git add -p` does; the
records only say whose each line is.** Nothing asks what git did meanwhile. A stash, a checkout, a reset or a
person's `commit -a` only change two bits of a line: is it in HEAD, is it on disk. What earlier commits took
decides nothing.

Words
    line      one line that ever stood at a path. All of them have one common order, the weave (M. J.
              Rochkind, "The Source Code Control System", IEEE TSE 1(4), 1975). Two more count as lines: that
              the file exists, and that it ends with a newline
    added     on disk and not in HEAD
    removed   in HEAD and not on disk
    context   in both; `history` is in neither
    step      one recorded edit
    gap       a change that nobody recorded
    hunk      what a step did in one place
    piece     hunks of one step that go together or not at all (the code calls it a unit of the weave)
    credit    the hunk that made a line what it is: added, removed, and so on
    owner     who made the credited hunk: who brought an added line, who took a removed one
    bond      the reason why a piece cannot go without another piece
    settled   said of a line that is gone: a text that HEAD had since lacked it already

An example
    HEAD has `host`, `port 80`, `path`. Session s1 replaces `port 80` by `port 8080 open`. Session s2 adds
    `user root`. A person mends `open` to `opened` in an editor. The weave then has six lines:

        line               in HEAD   on disk
        host               yes       yes        context
        port 80            yes       no         removed by s1
        port 8080 open     no        no         history: s1 brought it, the gap took it
        port 8080 opened   no        yes        added by nobody
        path               yes       yes        context
        user root          no        yes        added by s2

    s1 commits HEAD less the lines that it removed, plus those that it added. The gap keeps at least half of
    the words that s1 brought. So the person saw the line of s1, and the gap follows s1's piece: s1 commits
    `host`, `port 8080 opened`, `path`, and a trailer names the correction. s2 commits `host`, `port 80`,
    `path`, `user root`. Whoever commits first, HEAD ends as the file.

    Had s2 written `port 8080 opened`, its piece would be built on a line that HEAD lacks, and would wait. s1
    would commit `port 8080 open` from the record, although the file has it no more, and s2's piece would go
    on top of it later. If s1 waited too, neither could ever go.

    Had s2 kept no word of a line that s1 had only added, s1 would have nothing left to commit there. Had a
    person taken the line out, it would be gone.

What is done, in this order
    order        puts the steps in the order in which they happened. Where calls overlapped, each edit goes on
                 top of the one before it
    fold         puts the steps, and the gaps between them, into a weave. Where a gap leads back to a text
                 that consists of whole pieces (`whole`), the very lines of these pieces come back. Where it
                 brings back most of what a hunk took, and other lines too, all that this hunk took comes back
                 first, and the gap goes on from there
    pieces       gives each change its credit. Who only undoes what he did himself gets no credit, unless
                 HEAD had held it and lost it since. So names survive a stash and its pop
    place_head   finds which lines HEAD has. Where HEAD is a text that the file had, these are its lines. Else
                 they are the lines shared with the file and, between those, lines that are gone. What is left
                 is HEAD's own, and nobody may remove it
    choose       chooses the owners' pieces, the gaps that follow them, and the pieces they supersede. Bonds
                 tell what stands in the way. The docstring of `choose` has the rules
    net          checks the finished text by another way. So a fault above becomes a refusal and not a wrong
                 line
"""
