"""The image, the compose file, Kubernetes and what watches over them."""
