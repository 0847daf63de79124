"""Who decides how two facts stand to each other, one judge a module."""
