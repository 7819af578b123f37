"""HTML pages, rendered on the server and usable without JavaScript: a folder for each subject."""
