"""What everything else stands on: files, names on disk, ids, processes, locks; the standard library only."""
