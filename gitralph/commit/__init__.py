"""The way of a decision to HEAD: tree, index, hooks, message, landing, and the end of one cut short."""
