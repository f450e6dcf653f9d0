"""What everything else stands on: processes and locks; the standard library only, loaded by hooks too."""
