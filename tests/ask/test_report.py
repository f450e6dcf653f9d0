"""``git ralph report``: one page with nothing from elsewhere, names as text, readable when it is much."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitralph.ask.report import page, timeline
from gitralph.ask.report.facts import Edit, Facts, Lane, Refusal, SessionCommit, TaskRow
from gitralph.base import process
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.texts import changed

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="x',
    "</title><img src=x onerror=alert(1)>",
    "a\x1b[31m\u202eb",
    "&lt;",
]


class _Page(html.parser.HTMLParser):
    """Collects tags and attributes; complains of any end without a beginning."""

    VOID = frozenset(["meta", "link", "line", "input", "br", "wbr"])

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.data = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data += data


def checked(text: str) -> _Page:
    """A page that is sound HTML, fetches nothing and runs nothing."""
    found = _Page(text)
    assert found.open == []
    assert not {"script", "img", "iframe", "object", "form", "a"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "action")]
    assert [value for name, value in found.attributes if name == "href"] == ["data:,"]
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    return found


def much(count: int) -> Facts:
    """Three sessions with ``count`` edits and names that mean harm."""
    facts = Facts(HOSTILE[0], "now")
    for n in range(3):
        facts.lanes.append(Lane(f"s{n}", HOSTILE[n], "live", 1000.0 + n, None))
    for n in range(count):
        name = HOSTILE[n % 5] if n % 100 == 0 else f"src/file{n % 97}.py"
        facts.edits.append(Edit(1000.0 + n * 3.6, f"s{n % 3}", name, "edit"))
    facts.commits.append(SessionCommit(1500.0, "s1", "a" * 40, HOSTILE[2]))
    facts.refusals.append(Refusal(1600.0, "s2", HOSTILE[1]))
    facts.contested.append((HOSTILE[3], "s1, s2"))
    facts.tasks.append(TaskRow("r", HOSTILE[4], HOSTILE[1], "s1", "", 1, 2.5, HOSTILE[0]))
    return facts


def test_a_person_is_no_session(repo: Repo) -> None:
    repo.edit("S1", "b", changed())
    repo.write("c", "mine\n")
    repo.git("add", "c")
    repo.git("commit", "-qm", "by hand")
    page = checked(repo.ralph("report").text).data
    assert "a person" in page
    assert "1 session · " in page


def test_report_of_a_run(repo: Repo, tmp_path: Path) -> None:
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("one", "two <b>", "three")
    loop.script({"one": [["write", "one.txt", "1\n"]], "two <b>": [["write", "a", "2\n"], ["exit", 3]]})
    loop.run(code=1)
    repo.edit("foreign", "b", changed())
    before = sorted(repo.root.rglob("*"))
    out = tmp_path / "out.html"
    run = loop.last_run()["run"]
    assert repo.ralph("report", "--run", run, "-o", str(out)).out == b""
    found = checked(out.read_text())
    for text in (f"run {run}", "1/3 one", "committed", "2/3 two <b>", "failed", "one.txt", "Task 1/3: one"):
        assert text in found.data
    assert "generic-1" not in found.data
    assert "generic-1" in checked(repo.ralph("report").text).data
    assert sorted(repo.root.rglob("*")) == before
    repo.ralph("report", "--run", "none", code=128)
    repo.ralph("report", "-o", str(tmp_path / "no/such/folder.html"), code=128)


def test_report_of_nothing(repo: Repo) -> None:
    assert "no session has been recorded" in checked(repo.ralph("report").text).data
    assert not repo.state.exists()


def test_report_with_damaged_state(repo: Repo) -> None:
    repo.edit("s1", "a", changed())
    repo.ralph("run", "start")
    for path in [*repo.state.glob("edits/*"), *repo.state.glob("events-*"), *repo.state.glob("runs/*")]:
        path.write_bytes(
            path.read_bytes() + b'{"op":1}\n[\xff]\n{"op":"x","ts":"never"}\n' + b"[" * 9999 + b"\n"
        )
    checked(repo.ralph("report").text)


def test_names_are_text() -> None:
    found = checked(page.render(much(1000)))
    assert HOSTILE[0] in found.data
    assert HOSTILE[2] in found.data


def test_tasks_and_commits_stand_in_order_of_time_and_an_amended_one_is_marked(repo: Repo) -> None:
    for name in ("first", "second"):
        repo.edit("S1", "a", f"{name}\n" + changed())
        repo.commit("S1", "-m", name)
    old = repo.head()
    repo.git("commit", "-q", "--amend", "-m", "third\n\nRalph-Session: S1")
    found = checked(repo.ralph("report").text).data
    part = found[found.index("Commits") :]
    assert part.index("first") < part.index("second") < part.index("third")
    assert f"second now {repo.head()[:8]}" in part
    assert old[:8] in part


def test_a_session_that_is_not_running_is_drawn_to_its_last_edit(repo: Repo) -> None:
    """It had been drawn to the right edge, as one that lives."""
    for session in ("S1", "S2"):
        repo.start(session)
        repo.edit(session, "a" if session == "S1" else "b", changed())
    path = repo.state / "S1.json"
    record = json.loads(path.read_text())
    began = int(time.time()) - 4 * 3600
    record["process"] = {**(process.ancestor() or {}), "pid": 2**22 + 1}
    record["started"] = datetime.fromtimestamp(began, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    path.write_text(json.dumps(record))
    for file in (path, repo.state / "S1.files"):
        os.utime(file, (began + 600, began + 600))
    found = re.findall(
        r'<rect class="life" x="([\d.]+)%" width="([\d.]+)%"[^>]*><title>([^<]*)', repo.ralph("report").text
    )
    ends = {title: float(left) + float(width) for left, width, title in found}
    (dead,) = (end for title, end in ends.items() if "(not running)" in title)
    (live,) = (end for title, end in ends.items() if "(live)" in title)
    assert dead < live == pytest.approx(100.0, abs=0.5)


def test_a_session_is_called_by_its_name(repo: Repo) -> None:
    repo.edit("0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9", "a", changed())
    found = checked(repo.ralph("report").text)
    assert "generic-1" in found.data
    assert "0f1e2d3c" not in found.data


def test_no_word_is_broken_that_fits() -> None:
    facts = Facts("t", "now")
    facts.edits.append(Edit(1.0, "s", "src/module/a_name_of_thirty_characters.py", "edit"))
    facts.commits.append(SessionCommit(1.0, "s", "a" * 40, "Incomprehensibilities are " + "x" * 60))
    said = page.render(facts)
    assert "src/<wbr>module/<wbr>a_name_of_<wbr>thirty_characters.<wbr>py" in said
    assert "Incomprehensibilities are " + "x" * 24 + "<wbr>" in said
    assert "overflow-wrap: anywhere" not in said
    assert "break-all" not in said


def test_a_night_without_work_takes_no_room() -> None:
    hours = [0.0, 1200.0, 2400.0, 50000.0, 51200.0]
    scale = timeline.Scale(hours)
    assert [round(scale.x(when)) for when in (hours[0], hours[-1])] == [0, 100]
    assert scale.x(hours[3]) - scale.x(hours[2]) < 5
    drawn = [scale.x(when) for when in hours]
    assert drawn == sorted(drawn)


@pytest.mark.parametrize("times", [[], [5.0], [5.0, 5.0], [n * 1e5 for n in range(100)]])
def test_every_time_is_on_the_page(times: list[float]) -> None:
    scale = timeline.Scale(times)
    assert all(0 <= scale.x(when) <= 100 for when in [*times, 0.0, 1e12])


def test_what_other_clones_committed_is_told_with_its_age(repo: Repo, make_repo: object) -> None:
    repo.edit("S1", "a", changed(), fields={"model": "gpt-5.5"})
    repo.commit("S1")
    record = repo.ralph("export", "--format", "agent-trace").text
    folder = repo.state / "fleet"
    folder.mkdir()
    (folder / "fleet.json").write_text('{"writer": "aaaaaaaaaaaaaaaa"}')
    (folder / "aaaaaaaaaaaaaaaa.jsonl").write_text(record)
    assert "Elsewhere" not in checked(repo.ralph("report").text).data
    (folder / "0123456789abcdef.jsonl").write_text(record)
    found = checked(repo.ralph("report").text).data
    part = found[found.index("Elsewhere in the fleet") :]
    assert "generic openai/gpt-5.5" in part
    assert "log of 0123456789abcdef, read just now" in part


def test_open_hands_the_page_to_gits_browser(repo: Repo, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    repo.git("config", "web.browser", "ours")
    repo.git("config", "browser.ours.cmd", f"printf '%s\\n' >{seen}")
    repo.edit("S1", "a", changed())
    assert repo.ralph("report", "--open").out == b""
    shown = seen.read_text().strip()
    assert shown == str(repo.state / "report.html")
    checked(Path(shown).read_text())
    repo.ralph("report", "--open", "-o", str(tmp_path / "mine.html"))
    assert seen.read_text().strip() == str(tmp_path / "mine.html")


def test_open_without_a_browser_says_where_the_page_is(repo: Repo) -> None:
    repo.git("config", "web.browser", "ours")
    repo.git("config", "browser.ours.cmd", "false")
    repo.edit("S1", "a", changed())
    said = repo.ralph("report", "--open", code=1).said
    assert f"no browser could be started; the page is in '{repo.state / 'report.html'}'" in said
    assert "git config --global web.browser <browser>" in said


def test_a_thousand_edits_are_gathered() -> None:
    facts = much(1000)
    drawn = timeline.draw(facts, page.text)
    assert drawn.count('class="edit"') < 700
    heights = [int(h) for h in re.findall(r'class="edit"[^>]*height="(\d+)"', drawn)]
    assert max(heights) <= timeline.ROW
    assert len(page.render(much(20000))) < 3 << 20


@pytest.mark.slow
@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_looked_at_in_a_browser(tmp_path: Path, environ: dict[str, str]) -> None:
    browser = next(
        (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None
    )
    if browser is None:
        warnings.warn("SKIPPED: no chromium, the page was not looked at", pytest.PytestWarning, stacklevel=1)
        pytest.skip("NOT LOOKED AT: no chromium")
    target, shot, dom = tmp_path / "report.html", tmp_path / "shot.png", tmp_path / "dom"
    target.write_text(page.render(much(1000)))
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--v=0",
        f"--user-data-dir={tmp_path}/profile",
        "--window-size=1240,2000",
        "--hide-scrollbars",
    ]
    url = target.as_uri()
    shown = subprocess.run(
        [browser, *flags, f"--screenshot={shot}", url],
        env=environ,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert b"CONSOLE" not in shown.stderr, shown.stderr
    said = subprocess.run(
        [browser, *flags, "--dump-dom", url], env=environ, capture_output=True, timeout=120, check=True
    )
    dom.write_bytes(said.stdout)
    assert said.stdout.count(b'class="edit"') > 100
    assert b"<script" not in said.stdout
    assert b"<img" not in said.stdout
    assert _colours(shot) > 20, "the page is blank"


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 1400, 1920])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_stands_out_of_the_page_at_any_width(
    width: int, dark: bool, tmp_path: Path, environ: dict[str, str]
) -> None:
    """Measured by the browser itself: a copy of the page with a script of the test's in it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("NOT LOOKED AT: no chromium")
    facts = much(1000)
    facts.lanes.append(Lane("f" * 120, "a" * 80, "live", 1000.0, None))
    facts.edits.append(Edit(1700.0, "f" * 120, "x" * 200 + "/" + "y" * 100, "edit"))
    script = "<script>document.body.dataset.wide=document.documentElement.scrollWidth+'/'+innerWidth</script>"
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.render(facts)).replace("</body>", script + "</body>")
    target = tmp_path / "report.html"
    target.write_text(text)
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path}/profile",
        f"--window-size={width},900",
        "--dump-dom",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
    ]
    said = subprocess.run(
        [browser, *flags, target.as_uri()], env=environ, capture_output=True, timeout=120, check=True
    )
    found = re.search(rb'data-wide="(\d+)/(\d+)"', said.stdout)
    assert found, said.stderr
    assert int(found[1]) <= int(found[2])


def _colours(png: Path) -> int:
    """How many different rows of pixels a screenshot has: a blank page has one."""
    import zlib

    data, at, body = png.read_bytes(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        size, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IHDR":
            width = int.from_bytes(data[at + 8 : at + 12])
            depth = {2: 3, 6: 4}[data[at + 17]]
        if kind == b"IDAT":
            body += data[at + 8 : at + 8 + size]
        at += size + 12
    raw, stride = zlib.decompress(body), width * depth + 1
    return len({raw[n : n + stride] for n in range(0, len(raw), stride)})
