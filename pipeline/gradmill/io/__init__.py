"""Files of the system: reading, replacing, and what their stats prove."""
