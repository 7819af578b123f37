"""The image, built and run as the compose file says, with real containers: `make containers`."""
