"""HTTP: pages for people, an API for programs, and what stands before both."""
