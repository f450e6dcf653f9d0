"""Three agents in one directory, thirty commits, three branches, one squashed, and a fresh clone."""

from tests.support.repo import Repo

AGENTS = ("S1", "S2", "S3")


def test_every_line_has_its_session_in_a_fresh_clone(empty_repo: Repo) -> None:
    repo = empty_repo
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    repo.git("config", "ralph.notes", "git-ai")
    repo.write("f", "".join(f"line {n}\n" for n in range(30)))
    repo.commit_all("base")
    bare = repo.root.parent / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    repo.git("remote", "add", "origin", str(bare))
    repo.git("fetch", "-q", "origin")
    repo.git("remote", "set-head", "origin", "main")

    for n in range(30):  # each changes the line beside another's
        text = (repo.read("f") or b"").decode()
        session = AGENTS[n % 3]
        repo.edit(session, "f", text.replace(f"line {n}\n", f"changed {n} by {session}\n"))
        repo.commit(session, "-m", f"change {n}", checked=False)
    for session in AGENTS:
        found = repo.ralph("branch", session.lower(), "--session", session, "--json").json()
        assert (found["status"], len(found["commits"])) == ("made", 10)
        own = {f"changed {n} by {session}" for n in range(30) if AGENTS[n % 3] == session}
        lines = repo.blob("f", session.lower()).decode().splitlines()
        assert {line for line in lines if line.startswith("changed")} == own

    # the server merges: the first as it is, the second squashed under GitHub's message, the third as it is
    server = Repo(repo.root.parent / "server", dict(repo.env))
    repo.git("push", "-q", "origin", "s1", "s2", "s3")
    repo.git("clone", "-q", str(bare), str(server.root))
    server.git("merge", "-q", "--ff-only", "origin/s1")
    bodies = server.git("log", "--reverse", "--format=* %B", "origin/main..origin/s2")
    merged = {"s2": ("S2",), "s3": ("S3",)}
    for name, whose in merged.items():
        # neighbouring lines conflict for git: the text that both branches make is written by hand
        merged_text = server.read("f") or b""
        for n in range(30):
            if AGENTS[n % 3] in whose:
                merged_text = merged_text.replace(
                    b"line %d\n" % n, b"changed %d by %s\n" % (n, AGENTS[n % 3].encode())
                )
        server.write("f", merged_text)
        trailer = bodies if name == "s2" else "Ralph-Session: S3"
        server.git("commit", "-q", "-a", "-m", f"Merge {name} (#1)\n\n{trailer}")
    server.git("push", "-q", "origin", "main")

    repo.git("fetch", "-q", "origin")
    repo.git("checkout", "-q", "-B", "main", "origin/main")
    repo.ralph("status")  # the notes of what the server made
    repo.git("push", "-q", "origin", "refs/notes/ai")

    clone = Repo(repo.root.parent / "clone", dict(repo.env))
    repo.git("clone", "-q", str(bare), str(clone.root))
    wanted = [AGENTS[n % 3] for n in range(30)]
    for notes in (False, True):
        if notes:
            clone.git("fetch", "-q", "origin", "refs/notes/ai:refs/notes/ai")
        for place in (clone, repo):
            rows = place.ralph("blame", "--json", "f").json()["lines"]
            assert [row["session"] for row in rows] == wanted
