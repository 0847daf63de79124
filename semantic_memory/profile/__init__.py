"""Who the user is: profile fields, history tiers, and their roll-up."""
