"""Jobs that keep the store true and small, by schedule or by hand."""
