"""Registers the recording hook with agents and takes it out again, leaving all else as it was.

``table`` knows each agent, one entry each; ``settings`` and ``extension`` know the two forms a
registration takes; ``apply`` plans for all agents first, so that a refusal writes nothing.
"""

from gitralph.setup.install.apply import Registration, install, uninstall

__all__ = ["Registration", "install", "uninstall"]
