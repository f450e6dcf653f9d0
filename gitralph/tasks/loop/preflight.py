"""What is looked at before the first agent starts: said, so that nobody finds it out an hour later."""

from gitralph.setup.doctor import found
from gitralph.setup.doctor.verdict import judge
from gitralph.setup.install.table import AGENTS
from gitralph.tasks.loop.work import Worker


def look(worker: Worker) -> None:
    """Say what stands in the way: hooks that do not answer, and what is staged already."""
    ctx, agent = worker.ctx, worker.options.agent
    if agent in AGENTS:
        verdict = judge(AGENTS[agent], found.where(ctx.repo.root, ctx.repo), ctx.environ)
        if verdict.first is not None and (verdict.is_broken or not verdict.installed):
            worker.warn_once(f"{agent}: {verdict.first.text}; its edits may not be recorded")
            worker.say(f"hint: {verdict.first.fix}")
    if ctx.git.at(ctx.repo.root).try_run("diff", "--cached", "--quiet").returncode == 1:
        worker.say("note: something is staged; it stays staged, and is in no task's commit")
