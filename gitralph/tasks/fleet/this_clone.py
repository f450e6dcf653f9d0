"""This clone as a member: its record, its remote, its private objects; opened once a command."""

from dataclasses import dataclass, replace

from gitralph.base.errors import Fatal, UsageError
from gitralph.git.context import Context
from gitralph.tasks.fleet import claim, kept_state, ref_names, wire
from gitralph.tasks.fleet.kept_state import Membership
from gitralph.tasks.fleet.store import Store
from gitralph.tasks.fleet.wire import RemoteRefs, Wire

JOIN = "git ralph fleet join <remote>"


@dataclass(frozen=True)
class Fleet:
    """The fleet as this clone sees it. ``lease`` is what it publishes in its claims, in seconds."""

    ctx: Context
    me: Membership
    store: Store
    wire: Wire
    lease: int

    @property
    def namespace(self) -> str:
        return self.me.namespace

    @property
    def own_log(self) -> str:
        """The ref of the own log."""
        return ref_names.log_ref(self.me.namespace, self.me.writer, self.me.part)

    def look(self, *more: str) -> RemoteRefs:
        """All refs of the fleet, and those that match ``more``. Raises UnansweredError."""
        return self.wire.look(f"{self.namespace}/*", *more)

    def changed(self, **what: object) -> "Fleet":
        """The same with some fields of the membership changed, on disk as well."""
        me = replace(self.me, **what)  # type: ignore[arg-type]
        kept_state.write_membership(self.ctx.layout, me)
        return replace(self, me=me)


def url_of(ctx: Context, remote: str) -> str:
    """Where to push: the URL of a remote as configured, which git itself rewrites; else the word given."""
    for key in ("pushurl", "url"):
        found = ctx.config.get(f"remote.{remote}.{key}")
        if found:
            return found
    return remote


def is_renamed(ctx: Context, remote: str) -> bool:
    """True for the name of a remote that has this name no more: neither a URL nor a path."""
    return url_of(ctx, remote) == remote and not {"/", ":"} & set(remote)


def remote_of(ctx: Context, given: str) -> str:
    """The remote that counts: ``ralph.remote`` wins over what was typed."""
    return ctx.config.get("ralph.remote") or given


def lease_of(ctx: Context, published: int) -> int:
    """``ralph.lease``, else what the fleet publishes. Raises UsageError for what is no number of seconds."""
    said = ctx.config.get("ralph.lease")
    if said is None:
        return published
    if not said.isdigit() or not 0 < int(said) <= claim.LONGEST_LEASE:
        raise UsageError(f"bad value '{said}' for 'ralph.lease': seconds, at most {claim.LONGEST_LEASE}")
    return int(said)


def assemble(ctx: Context, me: Membership, seconds: float | None) -> Fleet:
    """The fleet that a record of membership speaks of."""
    store = Store.open(ctx)
    found = Wire(store.git, url_of(ctx, remote_of(ctx, me.remote)), seconds)
    return Fleet(ctx, me, store, found, lease_of(ctx, me.lease))


def open_fleet(ctx: Context, seconds: float | None = wire.PATIENCE) -> Fleet:
    """The fleet of this clone. Raises Fatal where it is in none."""
    me = kept_state.membership(ctx.layout)
    if me is None:
        raise Fatal("this repository is in no fleet", JOIN)
    found = assemble(ctx, me, seconds)
    if not is_renamed(ctx, found.wire.url):
        return found
    way = f"git config ralph.remote <remote>  # what '{found.wire.url}' is called now"
    return replace(found, wire=replace(found.wire, hints=(way,)))
