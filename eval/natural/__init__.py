"""Tell conversations in natural chat to a store, judge what it believes, and count."""
