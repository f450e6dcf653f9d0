"""Questions that write nothing: status, why, diff, blame, log, events, report, export."""
