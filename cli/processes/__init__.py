"""Commands that start long-lived processes, or look after the database."""
