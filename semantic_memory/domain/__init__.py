"""Values, events, errors and pure rules that all packages share. Imports no other package."""
