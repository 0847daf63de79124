"""Cases of settings and their effects, by section; `test_settings_effects` runs them."""
