"""Training of the packaged judges from `data/gold`, from a checkout: `make models`."""
