"""Judges of what sentences mean, and of what a newer statement does to an older one."""
