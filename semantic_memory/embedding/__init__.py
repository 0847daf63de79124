"""From text to vectors: the default model, any other, and which pieces of a text are embedded."""
