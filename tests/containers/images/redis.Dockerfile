# Stands in for the image redis:7-alpine where no registry can be reached. As there, others may connect without a password.
FROM python:3.12-slim-bookworm
RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server && \
    rm -rf /var/lib/apt/lists/*
USER redis
WORKDIR /tmp
ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no", "redis"]
CMD ["redis-server"]
