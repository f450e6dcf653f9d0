"""``git ralph install`` and ``uninstall``: nobody else's byte is lost, and every one of ours goes again."""

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from gitralph.setup.install import extension, receipt, settings
from gitralph.setup.install.form import Form
from gitralph.setup.install.table import AGENTS
from tests.support.home import Home, ours
from tests.support.repo import Repo

PI = AGENTS["pi"]
SETTINGS = ".claude/settings.json"
EXTENSION = ".pi/agent/extensions/gitralph.ts"

FRESH = """\
{
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Write|Edit|MultiEdit|NotebookEdit|Bash",
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Write|Edit|MultiEdit|NotebookEdit|Bash",
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ],
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "git ralph hook claude-code",
            "timeout": 30
          }
        ]
      }
    ]
  }
}
"""

THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "their-hook", "timeout": 5}]}
STYLES = {
    "two blanks": json.dumps({"model": "x", "hooks": {"PostToolUse": [THEIRS]}}, indent=2) + "\n",
    "tabs, no newline at the end": json.dumps({"a": [1, 2], "hooks": {"Stop": []}}, indent="\t"),
    "four blanks, CRLF": json.dumps({"hooks": {}, "b": None}, indent=4).replace("\n", "\r\n"),
    "one line": '{"permissions":{"allow":["Bash(git *)"]},"n":1.0e5,"hooks":{"PreToolUse":[]}}',
    "a byte order mark": '\ufeff{\n  "model": "x"\n}\n',
    "odd blanks": '{ "a" :\n 1 ,"hooks"\n:{"Stop" : [ ] } , "z":"\\u00e9" }\n\n',
    "an empty object": "{}",
    "an empty file": "",
    "text that looks like hooks": '{"note": "\\"hooks\\": [{}], git ralph hook claude-code"}',
}


def test_a_fresh_settings_file_holds_every_event(home: Home) -> None:
    done = home.ralph("install", "--agent", "claude-code")
    assert home.read(SETTINGS).decode() == FRESH
    assert done.text == f"claude-code: installed in '{home.root}/{SETTINGS}' (user)\n"
    assert "hint: try it: git ralph doctor" in done.said


def test_the_timeout_is_in_seconds_and_no_event_has_an_empty_matcher(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code")
    for groups in json.loads(home.read(SETTINGS))["hooks"].values():
        for group in groups:
            assert group.get("matcher") != ""
            assert 1 <= group["hooks"][0]["timeout"] <= 60


@pytest.mark.parametrize("style", STYLES)
def test_uninstall_restores_every_byte(home: Home, style: str) -> None:
    file = home.write(SETTINGS, STYLES[style])
    before = home.tree()
    home.ralph("install", "--agent", "claude-code")
    assert len(ours(file.read_bytes())) == 6
    home.ralph("uninstall", "--agent", "claude-code")
    assert home.tree() == before


@pytest.mark.parametrize("style", STYLES)
def test_what_else_is_in_the_file_keeps_its_bytes(home: Home, style: str) -> None:
    text = STYLES[style]
    file = home.write(SETTINGS, text)
    home.ralph("install", "--agent", "claude-code")
    now = file.read_bytes().decode()
    assert ("\r\n" in now) == ("\r\n" in text)
    assert now.endswith("\n") == (text.endswith("\n") or not text)
    for piece in ('"n":1.0e5', '"z":"\\u00e9"', '"allow":["Bash(git *)"]', "their-hook", "\ufeff", '"a" :'):
        assert now.count(piece) == text.count(piece)
    if "\t" in text:
        assert '\n\t\t"SessionStart": [\n\t\t\t{' in now


@pytest.mark.parametrize("style", STYLES)
def test_installing_again_writes_nothing(home: Home, style: str) -> None:
    file = home.write(SETTINGS, STYLES[style])
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    before, stamp = home.tree(), os.stat(file)
    done = home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    assert "already installed in" in done.text
    assert home.tree() == before
    assert (os.stat(file).st_ino, os.stat(file).st_mtime_ns) == (stamp.st_ino, stamp.st_mtime_ns)


def test_after_a_change_only_our_entries_go(home: Home) -> None:
    text = STYLES["two blanks"]
    file = home.write(SETTINGS, text)
    home.ralph("install", "--agent", "claude-code")
    file.write_text(file.read_text().replace('"x"', '"another model"'))
    home.ralph("uninstall", "--agent", "claude-code")
    assert file.read_text() == text.replace('"x"', '"another model"')


def test_a_change_between_two_installs_is_kept_by_uninstall(home: Home) -> None:
    file = home.write(SETTINGS, '{\n  "model": "x"\n}\n')
    home.ralph("install", "--agent", "claude-code")
    hooks = json.loads(file.read_bytes())
    del hooks["hooks"]["Stop"]
    hooks["theme"] = "dark"
    file.write_text(json.dumps(hooks, indent=2) + "\n")
    assert "brought up to date in" in home.ralph("install", "--agent", "claude-code").text
    assert len(ours(file.read_bytes())) == 6
    home.ralph("uninstall")
    assert file.read_text() == '{\n  "model": "x",\n  "theme": "dark"\n}\n'


def test_a_lost_receipt_costs_nothing_but_blanks(home: Home) -> None:
    before = json.loads(STYLES["two blanks"])
    file = home.write(SETTINGS, STYLES["two blanks"])
    home.ralph("install", "--agent", "claude-code")
    shutil.rmtree(home.root / ".local")
    home.ralph("uninstall", "--agent", "claude-code")
    assert json.loads(file.read_bytes()) == before


def test_an_older_command_is_replaced(home: Home) -> None:
    old = {"hooks": [{"type": "command", "command": "git-ralph hook claude-code"}]}
    mixed = {"hooks": [*old["hooks"], {"type": "command", "command": "their-hook"}]}
    file = home.write(SETTINGS, json.dumps({"hooks": {"PostToolUse": [mixed], "PreCompact": [old]}}))
    home.ralph("install", "--agent", "claude-code")
    hooks = json.loads(file.read_bytes())["hooks"]
    assert "PreCompact" not in hooks
    assert hooks["PostToolUse"][0] == {"hooks": [{"type": "command", "command": "their-hook"}]}
    assert len(ours(file.read_bytes())) == 6
    home.ralph("uninstall")
    assert json.loads(file.read_bytes()) == {"hooks": {"PostToolUse": [{"hooks": mixed["hooks"][1:]}]}}


def test_a_hook_wired_by_hand_is_left_alone(home: Home) -> None:
    by_hand = {"hooks": [{"type": "command", "command": "NICE=1 git ralph hook claude-code || true"}]}
    file = home.write(SETTINGS, json.dumps({"hooks": {"Stop": [by_hand]}}))
    home.ralph("uninstall")
    assert json.loads(file.read_bytes()) == {"hooks": {"Stop": [by_hand]}}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "fifo"])
def test_settings_that_are_no_file_are_refused_and_nothing_is_written(
    home: Home, make: Callable[[str], None]
) -> None:
    path = os.path.join(home.root, SETTINGS)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    make(path)
    for command in ("install", "uninstall"):
        said = home.ralph(command, "--agent", "claude-code", code=4).said
        assert "is not a regular file; nothing was written" in said
    assert "not installed" in home.ralph("doctor", code=1).text
    home.ralph("env")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a": 1,}', "is not valid JSON (line 1"),
        (b'{"a": NaN}', "is not valid JSON"),
        (b"// a comment\n{}", "is not valid JSON (line 1, column 1"),
        (b'{"a": 1} {}', "is not valid JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"hooks": []}', "has unexpected hooks: 'hooks' is not an object"),
        (b'{"hooks": {"Stop": {}}}', "has unexpected hooks: 'Stop' is not a list"),
        (b'{"hooks": {"Stop": ["x"]}}', "has unexpected hooks: 'Stop' is not a list of objects"),
        (b'{"hooks": {"Stop": [{"matcher": "x"}]}}', "has unexpected hooks: a group of 'Stop'"),
        (b'{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "has unexpected hooks: a group of 'Stop'"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not valid JSON (nested too deeply)"),
    ],
)
def test_a_file_that_claude_would_not_take_is_refused_and_nothing_is_written(
    home: Home, data: bytes, why: str
) -> None:
    home.write(SETTINGS, data)
    before = home.tree()
    done = home.ralph("install", "--agent", "pi", "--agent", "claude-code", code=4)
    assert why in done.said
    assert "nothing was written" in done.said
    assert done.out == b""
    assert home.tree() == before


def test_events_of_others_may_have_any_shape(home: Home) -> None:
    file = home.write(SETTINGS, '{"hooks": {"Later": {"new": "shape"}}}')
    home.ralph("install", "--agent", "claude-code")
    assert json.loads(file.read_bytes())["hooks"]["Later"] == {"new": "shape"}
    home.ralph("uninstall")
    assert file.read_text() == '{"hooks": {"Later": {"new": "shape"}}}'


def test_a_symlink_stays_one_and_its_target_keeps_its_mode(home: Home) -> None:
    target = home.write("dotfiles/claude.json", "{}\n")
    target.chmod(0o640)
    (home.root / ".claude").mkdir()
    (home.root / SETTINGS).symlink_to("../dotfiles/claude.json")
    before = home.tree()
    home.ralph("install", "--agent", "claude-code")
    assert (home.root / SETTINGS).is_symlink()
    assert len(ours(target.read_bytes())) == 6
    assert target.stat().st_mode & 0o777 == 0o640
    home.ralph("uninstall")
    assert home.tree() == before
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_dangling_symlink_gets_its_target_and_loses_it_again(home: Home) -> None:
    (home.root / ".claude").mkdir()
    (home.root / SETTINGS).symlink_to("../dotfiles/claude.json")
    before = home.tree()
    home.ralph("install", "--agent", "claude-code")
    assert len(ours(home.read("dotfiles/claude.json"))) == 6
    home.ralph("uninstall")
    assert home.tree() == before


def test_what_was_made_is_removed_when_it_is_empty(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    assert {SETTINGS, EXTENSION} < set(home.tree())
    home.ralph("uninstall")
    assert home.tree() == {}


def test_folders_that_others_use_meanwhile_stay(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    home.write(".pi/agent/extensions/theirs.ts", "x")
    home.ralph("uninstall")
    assert home.tree() == {
        ".pi": None,
        ".pi/agent": None,
        ".pi/agent/extensions": None,
        ".pi/agent/extensions/theirs.ts": b"x",
    }


def test_receipts_are_private(home: Home) -> None:
    home.write(SETTINGS, '{"env": {"TOKEN": "secret"}}')
    home.ralph("install", "--agent", "claude-code")
    folder = home.root / ".local/state/gitralph/installed"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600]


def test_other_configuration_folders_are_honoured(home: Home) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(home.root / "cc"), "PI_CODING_AGENT_DIR": str(home.root / "pp")}
    home.ralph("install", "--agent", "claude-code", "--agent", "pi", env=env)
    assert len(ours(home.read("cc/settings.json"))) == 6
    assert home.read("pp/extensions/gitralph.ts") == extension.text_of(PI)
    home.ralph("uninstall", env=env)
    assert home.tree() == {}


def test_without_agent_those_found_are_installed(home: Home) -> None:
    (home.root / ".claude").mkdir()
    program = home.write("bin/pi", "#!/bin/sh\n")
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:{home.env['PATH']}"}
    done = home.ralph("install", env=env)
    assert "note: found: claude-code, pi" in done.said
    assert (home.root / SETTINGS).exists()
    assert (home.root / EXTENSION).exists()


def test_without_any_agent_it_says_how_to_name_one(home: Home) -> None:
    done = home.ralph("install", code=4, env={"PATH": "/usr/bin:/bin"})
    assert done.said == ("error: no agent was found\nhint: name one: git ralph install --agent claude-code\n")
    assert home.tree() == {}


def test_wrong_words_are_usage_errors(home: Home) -> None:
    assert "unknown agent 'emacs'" in home.ralph("install", "--agent", "emacs", code=129).said
    said = home.ralph("install", "--agent", "pi", "--user", "--project", code=129).said
    assert "--user and --project exclude each other" in said
    assert home.tree() == {}


def test_generic_is_wired_by_hand(home: Home) -> None:
    done = home.ralph("install", "--agent", "generic")
    assert done.text == "generic: pipe its events into 'git ralph hook generic' yourself\n"
    assert home.tree() == {}


def test_the_project_scope_means_the_worktree_s_root(home: Home, repo: Repo) -> None:
    home.cwd = repo.root / "d"
    done = home.ralph("install", "--agent", "claude-code", "--agent", "pi", "--project")
    assert len(ours((repo.root / SETTINGS).read_bytes())) == 6
    assert (repo.root / ".pi/extensions/gitralph.ts").read_bytes() == extension.text_of(PI)
    assert "is read only by an agent started in that very folder" in done.said
    assert "--approve" in done.said
    home.ralph("uninstall", "--project")
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.root / ".claude").exists()


def test_the_project_scope_needs_a_repository(home: Home) -> None:
    assert "not a git repository" in home.ralph("install", "--agent", "pi", "--project", code=128).said


def test_a_folder_that_cannot_be_made_is_named(home: Home) -> None:
    home.write(".claude", "a file")
    said = home.ralph("install", "--agent", "claude-code", code=128).said
    assert said.startswith(f"fatal: cannot write '{home.root}/.claude")
    assert home.read(".claude") == b"a file"


def test_an_extension_of_somebody_else_is_refused(home: Home) -> None:
    home.write(EXTENSION, "export default () => {};\n")
    before = home.tree()
    assert "is there already and is not ours" in home.ralph("install", "--agent", "pi", code=4).said
    assert "not installed in" in home.ralph("uninstall", "--agent", "pi").text
    assert home.tree() == before


def test_an_extension_that_was_edited_is_kept(home: Home) -> None:
    home.ralph("install", "--agent", "pi")
    file = home.root / EXTENSION
    file.write_bytes(file.read_bytes() + b"// mine\n")
    before = home.tree()
    for command in ("install", "uninstall"):
        assert "was changed since it was installed" in home.ralph(command, "--agent", "pi", code=4).said
    assert home.tree() == before


def test_an_extension_of_an_older_version_is_replaced(home: Home) -> None:
    old = b"// gitralph: an older text\n"
    file = home.write(EXTENSION, old)
    receipt.write(home.env, receipt.make(str(file), None, old))
    assert "brought up to date in" in home.ralph("install", "--agent", "pi").text
    assert file.read_bytes() == extension.text_of(PI)
    home.ralph("uninstall")
    assert not file.exists()


def test_a_settings_file_that_changes_while_we_plan_is_read_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home.write(SETTINGS, '{"a": 1}')
    plain: Callable[..., bytes] = settings.FORM.added
    seen: list[bytes | None] = []

    def added(agent: Any, data: bytes | None) -> bytes:
        seen.append(data)
        if len(seen) == 1:
            file.write_text('{"a": 2}')
        return plain(agent, data)

    monkeypatch.setattr(
        "gitralph.setup.install.apply.FORMS",
        {"settings": Form(added, settings.removed, settings.registered, lambda _a, _d: False)},
    )
    home.ralph("install", "--agent", "claude-code")
    assert seen == [b'{"a": 1}', b'{"a": 2}']
    assert json.loads(file.read_bytes())["a"] == 2


def test_a_guard_where_git_runs_no_hook_is_refused(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "/dev/null")
    said = repo.ralph("install", "--guard", code=4).said
    assert "'core.hooksPath' is '/dev/null', which is no folder, so git runs no hook here" in said
    assert "hint: git config --show-origin core.hooksPath" in said
    assert repo.git("config", "--show-origin", "core.hooksPath").endswith("/dev/null")


def test_installing_the_guard_again_speaks_of_the_mode_that_is_set(repo: Repo) -> None:
    assert "it warns" in repo.ralph("install", "--guard").said
    repo.git("config", "ralph.guard", "narrow")
    said = repo.ralph("install", "--guard").said
    assert "it warns" not in said
    assert "holds its own lines" in said
    repo.git("config", "ralph.guard", "refuse")
    assert "hint" not in repo.ralph("install", "--guard").said
