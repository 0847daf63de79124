"""What keeps a store true and small: jobs over its users, by hand or by schedule."""
