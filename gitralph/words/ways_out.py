"""The next commands to type after a refusal. Each was tried in a preview, so none leads in a circle.

A hint is a line for a shell, with what it does behind a ``#``. An agent types what it reads. So only a person
is told a command that takes lines of others or has another session commit. ``Context.is_agent`` says who
reads, here and wherever a hint is made. Nothing here writes.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gitralph.base.kinds import Kind
from gitralph.decide import decision, offers, pathspecs
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Wishes
from gitralph.decide.request import Draft, Request
from gitralph.git import history, refs
from gitralph.git.context import Context
from gitralph.git.typed import as_name, as_pathspec


def _listed(ctx: Context, paths: Iterable[bytes]) -> str:
    return " ".join(as_pathspec(ctx, path) for path in sorted(paths))


def commit_of(ctx: Context, session: str) -> str:
    """The command that commits a session's lines; for UNRECORDED those of no session."""
    if session == decision.UNRECORDED:
        return "git ralph commit --mine"
    return f"git ralph commit --session {shlex.quote(ctx.called(session))}"


def with_shell(ctx: Context, session: str, is_sure: bool) -> str:
    """The command that takes what a session's shell commands changed, or may have changed with others'."""
    does = "only its own shell calls changed" if is_sure else "its shell calls may have changed, or another's"
    return f"{commit_of(ctx, session)} --with-shell  # takes what {does}"


class Ways(NamedTuple):
    """A refused commit. ``passes`` tells whether a commit as asked for would be made."""

    ctx: Context
    request: Request
    made: Draft
    passes: Callable[[Request], bool]

    def _line(self, session: str, option: str | None, paths: Iterable[bytes], does: str) -> str:
        words = [commit_of(self.ctx, session)]
        words += [option] if option else []
        if self.request.wishes.with_shell and session == self.request.session and option != "--with-shell":
            words.append("--with-shell")
        if session == self.request.session:
            words += [shlex.quote(word) for word in self.request.again]
        given = _listed(self.ctx, paths)
        if not given and session == self.request.session and self.request.named:
            given = shlex.join(self.request.named)
        return " ".join([*words, *(["--", given] if given else [])]) + f"  # {does}"

    def _option(self, option: str, does: str, **wished: bool) -> list[str]:
        """The same commit with one more option, if it would be made."""
        wishes = self.request.wishes._replace(**wished)
        if wishes == self.request.wishes or (wishes.skip_entangled and wishes.include_entangled):
            return []
        if not self.passes(self.request._replace(wishes=wishes)):
            return []
        return [self._line(self.request.session, option, (), does)]

    def _others(self, refusals: Sequence[Left], paths: frozenset[bytes]) -> list[str]:
        """Let another session commit first, everything that it has or only these paths; for a person only."""
        out = list[str]()
        if self.ctx.is_agent:
            return out
        for name in sorted({name for left in refusals for name in left.sessions}):
            does = "lets yours go first" if name == decision.UNRECORDED else "lets the other go first"
            if name == self.request.session:
                continue
            if name == decision.UNRECORDED and (makers := self._makers(paths)):
                out += [line for maker in makers for line in self._with_shell(maker, paths)]
                continue
            if name != decision.UNRECORDED and self.passes(Request(name)):
                out.append(self._line(name, None, (), does))
            elif self.passes(Request(name, match=pathspecs.only(paths))):
                out.append(self._line(name, None, paths, does))
        return out

    def _makers(self, paths: frozenset[bytes]) -> list[str]:
        """The other sessions whose shell commands may have made what nobody recorded there."""
        known = (self.made.states[path] for path in paths if path in self.made.states)
        return sorted({name for state in known for record in offers.of(state) for name in record.may})

    def _with_shell(self, maker: str, paths: frozenset[bytes]) -> list[str]:
        wishes = Wishes(with_shell=True)
        if maker == self.request.session or not self.passes(
            Request(maker, wishes=wishes, match=pathspecs.only(paths))
        ):
            return []
        return [self._line(maker, "--with-shell", paths, "lets the other's shell calls go first")]

    def _whole(self, paths: frozenset[bytes]) -> list[str]:
        wishes = self.request.wishes._replace(whole_file=True)
        if not self.passes(self.request._replace(wishes=wishes, match=pathspecs.only(paths))):
            return []
        does = "takes it as it stands, whoever changed it"
        if (
            any(left.reason in decision.UNSURE and left.path in paths for left in self.made.left)
            and self.made.head.oid
        ):
            does += f"; look first: git diff HEAD -- {_listed(self.ctx, paths)}"
        return [self._line(self.request.session, "--whole-file", paths, does)]

    def _claims(self, paths: frozenset[bytes]) -> list[str]:
        unknown = [path for path in paths if path not in self.made.states]
        session = shlex.quote(self.ctx.called(self.request.session))
        given = " ".join(as_name(self.ctx, path) for path in sorted(unknown))
        return [f"git ralph track --session {session} -- {given}  # claims it"] if unknown else []

    def after_refusal(self, refusals: Sequence[Left]) -> list[str]:
        """How to go on after a refusal: let others go first, or commit less, or commit more."""
        refused = frozenset(left.path for left in refusals)
        ends = {path for pair in self.made.together if refused & set(pair) for path in pair}
        paths = refused | ends
        out = [*given_back(self.ctx, self.made, refusals), *self._others(refusals, paths)]
        out += self._option("--skip-entangled", "leaves it", skip_entangled=True)
        if self.request.by_person:
            return out or [self._line(self.request.session, "--skip-entangled", (), "leaves it")]
        if not self.ctx.is_agent:
            out += self._option("--include-entangled", "takes what it is built on", include_entangled=True)
        out += self._option("--with-shell", "takes what its shell commands did too", with_shell=True)
        out += ([] if self.ctx.is_agent else self._whole(paths)) or self._claims(refused)
        if not out:  # there is nothing else to commit, and nothing could be tried
            out = [self._line(self.request.session, "--skip-entangled", (), "leaves it")]
        return out

    def after_staged(self, conflicts: Sequence[Left]) -> list[str]:
        """How to go on where a staged version stands in the way of the commit."""
        out = self._option("--skip-entangled", "leaves it", skip_entangled=True)
        if self.ctx.is_agent:  # what is staged is a person's
            return out or [self._line(self.request.session, "--skip-entangled", (), "leaves it")]
        given = _listed(self.ctx, {left.path for left in conflicts})
        unstage = "restore --staged" if self.made.head.oid else "rm -rfq --cached"
        return [*out, f"git {unstage} -- {given}  # your staged version goes, the file stays"]


def given_back(ctx: Context, made: Draft, refusals: Iterable[Left]) -> Iterator[str]:
    """How a person gives lines back to their session that moved without its knowledge."""
    moved = [one for one in refusals if one.why.kind is Kind.LINES_OF_GONE and one.lines]
    # What HEAD does not have yet would be a new file of the session's that waits for a person's lines.
    back = [_moved_back(ctx, one) for one in moved if made.base.entry(one.path) is None]
    if back:
        yield " && ".join(back) + "  # moves it back until its lines are committed"
        return
    for left in moved:
        if left.lines:
            first, last = left.lines
            place = f"{as_name(ctx, left.path)}:{first}" + (f"-{last}" if last > first else "")
            name = shlex.quote(ctx.called(left.sessions[0]))
            rest = "the rest is yours" if len(left.sessions) == 1 else "look again, others' lines are there"
            yield f"git ralph assign --to {name} -- {place}  # gives them back; then {rest}"


def _moved_back(ctx: Context, left: Left) -> str:
    old, tracked = left.why.path, ctx.git.at(ctx.repo.root, GIT_LITERAL_PATHSPECS="1")
    folder = os.path.dirname(old)
    is_there = os.path.isdir(os.path.join(os.fsencode(ctx.repo.root), folder))
    again = "" if is_there else f"mkdir -p -- {as_name(ctx, folder)} && "
    moves = "git mv" if tracked.run("ls-files", "--", left.path) else "mv"
    return f"{again}{moves} -- {as_name(ctx, left.path)} {as_name(ctx, old)}"


def unmerged(ctx: Context, paths: Iterable[bytes]) -> list[str]:
    """How to resolve conflict stages."""
    return [f"git add -- {_listed(ctx, paths)}  # once its conflict is settled; git status tells"]


def after_leaving(ctx: Context, session: str, left: Sequence[Left]) -> list[str]:
    """How to commit the paths that a commit passed over."""
    if session == decision.UNRECORDED:
        shell = [one for one in left if one.reason == decision.SHELL]
        given = _listed(ctx, sorted({one.path for one in shell})[:_MOST])
        takes = [f"git ralph commit --mine -- {given}  # takes it, if it is yours"] if given else []
        return takes + _ends(ctx, {name for one in shell for name in one.sessions})
    name = shlex.quote(ctx.called(session))
    by_reason: dict[str, list[bytes]] = {}
    for one in left:
        by_reason.setdefault(one.reason, []).append(one.path)
    out = []
    offered = [one for one in left if one.by_shell]
    is_sure = all(one.reason == decision.SHELL for one in offered)
    # what another's command may have made is for a person to decide
    if offered and (is_sure or not ctx.is_agent):
        out.append(with_shell(ctx, session, is_sure))
    whose = {name for one in left if one.by_shell for name in one.sessions} - {session}
    out += _ends(ctx, whose)
    gone = [] if ctx.is_agent else [one.path for one in left if one.why.kind is Kind.GONE]
    if gone:
        base = history.base_of(ctx.repo, refs.read_head(ctx.repo))
        given = _listed(ctx, [path for path in sorted(gone) if base.lookup_safe(path) is not None][:_MOST])
        back = f"git checkout HEAD -- {given} && " if given else ""
        out.append(f"{back}git ralph restore --session {name}  # brings it back, with its lines")
    claimed = [*by_reason.get(decision.SHELL, []), *gone]
    if claimed:
        given = " ".join(as_name(ctx, path) for path in sorted(claimed)[:_MOST])
        out.append(f"git ralph track --session {name} -- {given}  # claims it for the session")
    if decision.IGNORED in by_reason and not ctx.is_agent:
        given = _listed(ctx, sorted(by_reason[decision.IGNORED])[:_MOST])
        out.append(f"git ralph commit --session {name} --whole-file -- {given}  # takes it all the same")
    return out


def _ends(ctx: Context, sessions: set[str]) -> list[str]:
    """How a person ends the sessions whose shell command tells no end."""
    does = "if it is over: its shell command has not ended, and may change anything until it does"
    open_ = offers.unended(ctx.layout, sessions) if sessions and not ctx.is_agent else ()
    return [f"git ralph session end {shlex.quote(ctx.called(one))}  # {does}" for one in open_]


def for_what_is_kept(ctx: Context, session: str, outcomes: Iterable[Outcome]) -> list[str]:
    """How to give the session unrecorded lines that stand on its own; only a person knows whose they are."""
    places = [
        f"{as_name(ctx, one.path)}:{first}" + (f"-{last}" if last > first else "")
        for one in outcomes
        for first, last in one.kept
    ]
    if ctx.is_agent or not places:
        return []
    name = shlex.quote(ctx.called(session))
    return [f"git ralph assign --to {name} -- {' '.join(places[:_MOST])}  # lets its next commit take it"]


# A hint is typed or pasted in one line, and nobody reads a command with more paths. It shows these, and the
# next refusal shows the rest.
_MOST = 10
