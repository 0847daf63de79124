"""The dashboard: pages that look into a running service, and the few routes only they need."""
