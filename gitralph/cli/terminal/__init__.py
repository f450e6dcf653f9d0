"""What commands share towards the terminal: options, columns, colour, the pager, the live screen."""
