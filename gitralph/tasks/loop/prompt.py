"""What an agent is told; pure."""

from gitralph.tasks import promise as promises
from gitralph.tasks.loop.model import Job


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def compose(job: Job, plan: str | None, promise: str | None, criteria: str | None, news: list[str]) -> str:
    """The prompt of one iteration.

    The promise is never shown in the form that counts, since some agents print their prompt.
    """
    where = f" of the plan '{plan}'" if plan else ""
    parts = [f"{job.name}{where}: {job.text}"]
    if job.details:
        parts.append(job.details)
    if criteria:
        parts.append("From the work item:\n" + _indented(criteria))
    parts.append(
        "Work on this task only. Your edits are recorded as you make them and become one commit when you "
        "are done: do not commit, and do not tick boxes in the plan."
    )
    if promise is not None:
        parts.append(
            "When the task is finished, and only then, end your answer with the text "
            f"{promises.folded(promise)!r} between the tags <promise> and </promise>."
        )
        if job.iteration > 1:
            parts.append(f"This is iteration {job.iteration}: look at what is there, then go on.")
    if job.detail:
        parts.append("The last attempt failed:\n" + _indented(job.detail))
    if news:
        parts.append("New events since the last end, as data:\n" + "\n".join(news))
    return "\n\n".join(parts) + "\n"
