"""``ralph.attribution``: which agent and model helped with a commit, in its message; never a signature."""

import pytest

from tests.support import payloads
from tests.support.guarded import git_as
from tests.support.repo import Repo
from tests.support.texts import TEN


def _trailers(repo: Repo, form: str | None, *args: str) -> list[str]:
    if form is not None:
        repo.git("config", "ralph.attribution", form)
    repo.commit("S1", *args)
    return [row for row in repo.trailers().splitlines() if not row.startswith("Ralph-")]


def _claude(repo: Repo, path: str, text: str) -> None:
    repo.write(path, text)
    repo.hook("claude-code", payloads.claude_write("S1", str(repo.root), str(repo.file(path)), TEN, text))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (None, []),
        ("none", []),
        ("assisted-by", ["Assisted-by: generic:gpt-5.5"]),
        ("co-authored-by", ["Assisted-by: generic:gpt-5.5"]),
    ],
)
def test_the_setting_decides(form: str | None, said: list[str], repo: Repo) -> None:
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "gpt-5.5"})
    assert _trailers(repo, form) == said


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("assisted-by", "Assisted-by: claude-code"),
        ("co-authored-by", "Co-authored-by: Claude <noreply@anthropic.com>"),
    ],
)
def test_an_agent_that_does_not_say_its_model_is_named_alone(form: str, said: str, repo: Repo) -> None:
    _claude(repo, "a", "x\n" + TEN)
    assert _trailers(repo, form) == [said]


def test_only_models_whose_edits_are_in_the_commit_are_named(repo: Repo) -> None:
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "gpt-5.5"})
    repo.edit("S1", "b", "x\n" + TEN, fields={"model": "gpt-5.5-mini"})
    assert _trailers(repo, "assisted-by", "--", "a") == ["Assisted-by: generic:gpt-5.5"]


def test_a_session_that_was_included_helped_too(repo: Repo) -> None:
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "gpt-5.5"})
    repo.edit("S2", "a", "x\ny\n" + TEN, fields={"model": "claude-opus-4-5"})
    said = _trailers(repo, "assisted-by", "--whole-file", "--", "a")
    assert said == ["Assisted-by: generic:gpt-5.5", "Assisted-by: generic:claude-opus-4-5"]


def test_a_trailer_that_the_message_has_already_stands_once(repo: Repo) -> None:
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "gpt-5.5"})
    said = _trailers(repo, "assisted-by", "-m", "x\n\nAssisted-by: generic:gpt-5.5")
    assert said == ["Assisted-by: generic:gpt-5.5"]


def test_a_hostile_agent_name_adds_no_line(repo: Repo) -> None:
    repo.start("S1", "--agent", "evil\nSigned-off-by: a <a@b>")
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "m\nSigned-off-by: a <a@b>"})
    assert _trailers(repo, "assisted-by") == []


def test_a_setting_that_is_none_is_refused(repo: Repo) -> None:
    repo.git("config", "ralph.attribution", "signed-off-by")
    repo.edit("S1", "a", "x\n" + TEN)
    said = repo.ralph("commit", "--session", "S1", "-m", "x", code=128).said
    assert "bad value 'signed-off-by' for 'ralph.attribution': use none, assisted-by, co-authored-by" in said


def test_a_narrowed_plain_commit_says_it_too(repo: Repo) -> None:
    repo.git("config", "ralph.guard", "narrow")
    repo.git("config", "ralph.attribution", "assisted-by")
    repo.ralph("install", "--guard")
    repo.edit("S1", "a", "x\n" + TEN, fields={"model": "gpt-5.5"})
    repo.write("b", "human\n")
    assert git_as(repo, "S1", "commit", "-q", "-a", "-m", "x").code == 0
    assert "Assisted-by: generic:gpt-5.5" in repo.trailers().splitlines()
