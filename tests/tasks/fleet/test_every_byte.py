"""What is pushed, byte for byte: nothing outside the allow-list; and what hostile members push is dropped."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.base.ids import hashed
from gitralph.tasks.fleet import allow_list, wire
from tests.support.repo import Repo
from tests.tasks.fleet.test_claims import work
from tests.tasks.fleet.world import World, row

CANARY = "kanarienvogel"
KEYS = {
    "version",
    "id",
    "timestamp",
    "vcs",
    "type",
    "revision",
    "tool",
    "name",
    "files",
    "path",
    "conversations",
    "url",
    "contributor",
    "model_id",
    "ranges",
    "start_line",
    "end_line",
    "content_hash",
    "metadata",
    "io.gitralph",
    "session",
    "agent",
    "exact",
    "lines",
}
TRAILERS = {
    "Ralph-Bead",
    "Ralph-State",
    "Ralph-Epoch",
    "Ralph-Token",
    "Ralph-Writer",
    "Ralph-Lease",
    "Ralph-Result",
    "Ralph-Format",
    "Ralph-Namespace",
    "Ralph-Work",
    "Ralph-Into",
}


def pushed_objects(world: World) -> list[tuple[str, bytes]]:
    """Kind and bytes of every object that a fleet's refs, and no branch, have ever led to."""
    every = world.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    branches = set(world.git("rev-list", "--objects", "--branches", "--no-object-names").split())
    out = []
    for line in every:
        oid, kind, _ = line.split()
        if oid not in branches:
            data = subprocess.run(
                ["git", "cat-file", kind, oid], cwd=world.path, env=world.env, capture_output=True, check=True
            ).stdout
            out.append((kind, data))
    return out


def keys_of(found: object) -> set[str]:
    """Every key of a document, but for those of ``lines``, which are paths of the commit."""
    if isinstance(found, dict):
        inner = [keys_of(value) for key, value in found.items() if key != "lines"]
        return set(found).union(*inner)
    return set().union(*map(keys_of, found)) if isinstance(found, list) else set()


def busy_session(repo: Repo) -> None:
    """A session that says, runs, reads and edits canaries, and commits one plain line."""
    session, root = f"session-{CANARY}", str(repo.root)
    base = {"session_id": session, "cwd": root, "transcript_path": f"/home/{CANARY}/t.jsonl"}
    for fields in (
        {"hook_event_name": "SessionStart", "source": "startup", "model": "claude-x-1"},
        {"hook_event_name": "UserPromptSubmit", "prompt": f"please {CANARY}"},
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_use_id": "t1",
            "tool_input": {"command": f"echo {CANARY}"},
        },
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": "t1",
            "tool_input": {"command": f"echo {CANARY}"},
            "tool_response": {"stdout": CANARY},
        },
    ):
        repo.hook("claude-code", {**base, **fields})
    repo.edit(session, "a", "one\ntwo and more\nthree\n")
    repo.edit(session, f"pending-{CANARY}", "x\n")
    repo.ralph("commit", "--session", session, "-m", "plain", "--", "a")


def test_every_pushed_byte(world: World, environ: dict[str, str]) -> None:
    """Canaries in prompts, shell text, ids, folders, pending paths, host and user names: none is pushed."""
    environ_of_one = {"USER": CANARY, "LOGNAME": CANARY, "HOSTNAME": f"{CANARY}.example", "EMAIL": ""}
    one = world.clone("one-" + CANARY, **{"user.name": "One", "user.email": "one@example.com"})
    one.env.update({key: value for key, value in environ_of_one.items() if value}, TZ="Asia/Kathmandu")
    one.ralph("fleet", "join", "origin")
    busy_session(one)
    one.ralph("fleet", "claim", "bd-1")
    one.git("push", "-q", "origin", "HEAD:main")
    one.ralph("fleet", "sync")
    work(one, "bd-1", path="b")
    one.ralph("fleet", "land", "bd-1")
    one.ralph("fleet", "sync")
    found = pushed_objects(world)
    assert {kind for kind, _ in found} == {"commit", "tree", "blob"}
    for kind, data in found:
        assert CANARY.encode() not in data, data
        assert b"Kathmandu" not in data
        assert b"+0545" not in data
        if kind == "commit":
            head, _, text = data.decode().partition("\n\n")
            names = {row.split(" ")[0] for row in head.split("\n")}
            assert names <= {"tree", "parent", "author", "committer"}
            assert "One <one@example.com>" in head
            assert text.split("\n")[0] in ("chore: claim bd-1", "chore: log", "chore: start fleet")
            assert {line.split(":")[0] for line in text.split("\n")[2:] if line} <= TRAILERS
        if kind == "blob":
            for line in data.splitlines():
                assert keys_of(json.loads(line)) <= KEYS
    lines = {line for kind, data in found if kind == "blob" for line in data.splitlines()}
    told = [json.loads(line) for line in lines]
    assert [record["metadata"]["io.gitralph"]["session"] for record in told] == [hashed(f"session-{CANARY}")]
    assert [file["path"] for record in told for file in record["files"]] == ["a"]
    assert {ref.split("/")[2] for ref in world.refs() if ref.startswith("refs/ralph/")} == {
        "claims",
        "fleet",
        "log",
    }


def test_a_commit_that_the_remote_has_not_is_not_told_of(world: World) -> None:
    one = world.member("one")
    one.edit("S1", "a", "one\nmine\nthree\n")
    one.commit("S1")
    one.ralph("fleet", "sync")
    assert not any(b"revision" in data for _, data in pushed_objects(world))


def test_without_an_identity_nothing_is_guessed(world: World) -> None:
    """git's guess would hold the names of user and host."""
    one = world.clone("one")
    one.git("config", "--unset", "user.email")
    Path(one.env["HOME"], ".gitconfig").write_text("")
    done = one.ralph("fleet", "join", "origin", code=128)
    assert "user.email" in done.said or "identity" in done.said
    assert [ref for ref in world.refs() if ref.startswith("refs/ralph")] == []


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["0.1.0", "a" * 40]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(KEYS)) | st.text(), inner)
    ),
    max_leaves=30,
)


@settings(max_examples=60)
@given(_json)
def test_whatever_is_given_only_the_allow_list_comes_out(found: object) -> None:
    kept = allow_list.allowed(found)
    assert kept is None or keys_of(kept) <= KEYS


RECORD = {
    "version": "0.1.0",
    "id": "54e43cb3-d747-5196-946f-937db359849e",
    "timestamp": "2026-01-02T03:04:05Z",
    "vcs": {"type": "git", "revision": "a" * 40},
    "tool": {"name": "gitralph", "version": "0.1.0"},
    "files": [
        {
            "path": "d/a",
            "conversations": [
                {
                    "url": "urn:ralph:s_0123456789abcd",
                    "contributor": {"type": "ai", "model_id": "anthropic/claude-x"},
                    "ranges": [{"start_line": 1, "end_line": 2, "content_hash": "sha256:0123456789abcdef"}],
                }
            ],
        }
    ],
    "metadata": {
        "io.gitralph": {
            "session": "s_0123456789abcd",
            "agent": "claude-code",
            "exact": True,
            "lines": {"d/a": "0123456789abcdef"},
        }
    },
}


def test_a_whole_record_comes_through_unchanged() -> None:
    assert allow_list.allowed(RECORD) == RECORD
    line = allow_list.line(RECORD)
    assert line is not None
    ranges = [{"start_line": 1, "end_line": 2}]  # each of its lines has a hash of its own
    lean = json.loads(json.dumps(RECORD))
    lean["files"][0]["conversations"][0]["ranges"] = ranges
    assert [json.loads(kept) for _, kept in allow_list.read(line)] == [lean]


def leaves(found: object, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to every value of a document."""
    if isinstance(found, dict):
        return [one for key, value in found.items() for one in leaves(value, (*way, key))]
    if isinstance(found, list):
        return [one for at, value in enumerate(found) for one in leaves(value, (*way, at))]
    return [way]


@pytest.mark.parametrize("way", leaves(RECORD), ids=str)
def test_no_field_takes_any_text(way: tuple[str | int, ...]) -> None:
    """A text that has not the form of its field is not published; a path of the commit is one."""
    found = json.loads(json.dumps(RECORD))
    place = found
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = f"the {CANARY} said: rm -rf /home/{CANARY}\n"
    assert (CANARY.encode() in (allow_list.line(found) or b"")) == (way[-1] == "path")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("vcs", "revision"), "x"),
        (("timestamp",), "now"),
        (("id",), "\x1b[31m"),
        (("version",), "9"),
        (("metadata",), {"io.gitralph": {"session": "../x"}}),
    ],
)
def test_what_has_not_the_form_is_dropped(path: tuple[str, ...], value: object) -> None:
    found = json.loads(json.dumps(RECORD))
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if path[0] == "metadata":
        assert "metadata" not in (allow_list.allowed(found) or {})
    else:
        assert allow_list.allowed(found) is None


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "a\0b", "", "x" * 5000, "\ud800"])
def test_a_path_that_git_would_not_take_is_dropped(path: str) -> None:
    found = json.loads(json.dumps(RECORD))
    found["files"][0]["path"] = path
    found["metadata"]["io.gitralph"]["lines"] = {path: "00"}
    kept = allow_list.allowed(found)
    assert kept is not None
    assert kept["files"] == []
    assert "lines" not in kept["metadata"]["io.gitralph"]  # type: ignore[index]


# --- members who do not play by the rules ---


def put(world: World, ref: str, text: str, tree: str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904") -> str:
    """A commit of somebody's at a ref of the server."""
    world.git("mktree", stdin=b"")
    oid = world.git("commit-tree", tree, "-F", "-", stdin=text.encode())
    world.git("update-ref", ref, oid)
    return oid


GOOD = (
    "chore: claim bd-1\n\nRalph-Bead: bd-1\nRalph-State: held\nRalph-Epoch: 1\nRalph-Token: "
    + "0" * 32
    + "\nRalph-Writer: "
    + "f" * 16
    + "\nRalph-Lease: 60\n"
)
BAD = {
    "empty": "x\n",
    "twice": GOOD + "Ralph-State: free\n",
    "epoch": GOOD.replace("Epoch: 1", "Epoch: 99999999999999999999"),
    "state": GOOD.replace("held", "mine\x1b[2J"),
    "writer": GOOD.replace("f" * 16, "../../x"),
    "bead": GOOD.replace("Bead: bd-1", "Bead: bd-2"),
    "long": GOOD + "x" * 20_000,
}


def test_a_claim_without_the_form_is_somebodys(world: World) -> None:
    """Refused like any held bead, and nothing of it commands a terminal."""
    one = world.member("one")
    for what, text in BAD.items():
        put(world, "refs/ralph/claims/bd-1", text)
        done = one.ralph("fleet", "claim", "bd-1", code=4)
        assert "claim cannot be read" in done.said, what
        assert "\x1b" not in done.said + one.ralph("fleet", "claims").text, what
    one.ralph("fleet", "sync")


def test_a_hostile_author_is_escaped_and_cut(world: World) -> None:
    one = world.member("one")
    world.env.update(GIT_AUTHOR_NAME="\x1b]0;x\x07" + "A" * 500, GIT_AUTHOR_EMAIL="\u202ee@x")
    put(world, "refs/ralph/claims/bd-1", GOOD)
    said = one.ralph("fleet", "claim", "bd-1", code=4).said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert len(max(said.splitlines(), key=len)) < 300


def test_a_lease_of_years_counts_as_a_week(world: World) -> None:
    one = world.member("one")
    put(world, "refs/ralph/claims/bd-1", GOOD.replace("Lease: 60", "Lease: 999999999"))
    one.ralph("fleet", "claim", "bd-1", code=4)
    text = GOOD.replace("Lease: 60", "Lease: 999999999")
    from gitralph.tasks.fleet import claim

    found = claim.parse("a" * 40, b"author A <a@x> 1 +0000\n\n" + text.encode(), "bd-1")
    assert found is not None
    assert found.lease == 7 * 86400


def test_a_claim_below_anothers_name_counts_for_nobody(world: World) -> None:
    one = world.member("one")
    put(world, "refs/ralph/claims/elsewhere", GOOD)
    assert one.ralph("fleet", "claims", "--json").json() == []
    assert row(one.ralph("fleet", "claim", "bd-1", "--json"))["epoch"] == 1


def test_hostile_logs_harm_nobody(world: World) -> None:
    """Trees that are no logs, blobs that are no records, refs with names that are no writers."""
    one = world.member("one")
    good = json.dumps(RECORD)
    bad = (
        "\n".join(["{", "[1]", good, json.dumps({**RECORD, "evil": "\x1b"}), "x" * 3_000_000, good[:-9]])
        + "\n"
    )
    blob = world.git("hash-object", "-w", "--stdin", stdin=bad.encode())
    trees = [
        f"100644 blob {blob}\tlog.jsonl\n",
        f"120000 blob {blob}\tlog.jsonl\n",
        f"100644 blob {blob}\t..evil\n100755 blob {blob}\tlog.jsonl\n",
        f"100644 blob {blob}\tlog.7.jsonl\n",
    ]
    for number, text in enumerate(trees):
        put(world, f"refs/ralph/log/{number:016x}", "log\n", world.git("mktree", stdin=text.encode()))
    world.git("update-ref", "refs/ralph/log/" + "e" * 16, blob)  # no commit at all
    put(world, "refs/ralph/log/not-a-writer", "log\n")
    put(world, "refs/ralph/log/" + "d" * 16 + ".99999", "log\n")
    one.ralph("fleet", "sync")
    one.ralph("fleet", "sync")
    kept = {path.name: path.read_text() for path in (one.state / "fleet").glob("*.jsonl")}
    whole = {name for name, text in kept.items() if text}
    assert whole == {f"{0:016x}.jsonl", f"{3:016x}.jsonl"}
    assert all(json.loads(line) == RECORD for name in whole for line in kept[name].splitlines())
    assert set(kept) <= {f"{number:016x}.jsonl" for number in range(4)}


def test_what_a_member_may_make_us_store_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack that is too large is cut off; the rest of the sync goes on."""
    monkeypatch.setattr(wire, "MOST_BYTES", 200_000)
    one = world.member("one")
    blob = world.git("hash-object", "-w", "--stdin", stdin=os.urandom(1_000_000).hex().encode())
    tree = world.git("mktree", stdin=f"100644 blob {blob}\tlog.jsonl\n".encode())
    put(world, "refs/ralph/log/" + "c" * 16, "log\n", tree)
    put(world, "refs/ralph/claims/bd-1", GOOD)
    one.ralph("fleet", "sync")
    assert one.ralph("fleet", "claims", "--json").json()[0]["writer"] == "f" * 16
    sizes = [path.stat().st_size for path in (one.state / "fleet/objects").rglob("*") if path.is_file()]
    assert max(sizes) <= 200_000


@pytest.mark.parametrize(
    "text", ["x\n", "chore\n\nRalph-Format: 2\nRalph-Lease: 5\n", "chore\n\nRalph-Format: \x1b\n"]
)
def test_a_fleet_of_another_format_is_refused(world: World, text: str) -> None:
    put(world, "refs/ralph/fleet", text)
    done = world.clone("one").ralph("fleet", "join", "origin", code=128)
    assert "\x1b" not in done.said
