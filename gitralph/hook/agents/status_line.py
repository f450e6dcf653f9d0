"""What an agent sends to a command that draws its status line: no event, but the same conversation."""


def session_of(given: dict[str, object]) -> str | None:
    """The agent's own id of the conversation."""
    found = given.get("session_id")
    return found if isinstance(found, str) and found else None


def folder_of(given: dict[str, object]) -> str | None:
    """The folder where the agent works:

    ``workspace.current_dir`` of Claude Code, else ``cwd`` (seen with 2.1).
    """
    space = given.get("workspace")
    found = space.get("current_dir") if isinstance(space, dict) else given.get("cwd")
    return found if isinstance(found, str) and found else None
