"""What a release stands on and consists of: dependencies, their licences and advisories, a rehearsal."""
