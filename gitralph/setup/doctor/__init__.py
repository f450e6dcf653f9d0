"""Proves that edits are being recorded, or says why not: what is registered, one real event, state.

``found`` looks at the files, ``probe`` sends the event, ``verdict`` names the reasons, ``repository``
checks the state folder.
"""

from gitralph.setup.doctor.examine import Report, examine

__all__ = ["Report", "examine"]
