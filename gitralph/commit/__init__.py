"""From a decision to HEAD: tree, index, hooks, message, landing; and the end of one that was cut short."""
