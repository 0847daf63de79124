"""What facts make of each other: duplicates, conflicts, fading."""
