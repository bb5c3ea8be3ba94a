"""How frames move from file to file."""
