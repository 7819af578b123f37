# Stands in for the image postgres:17 where no registry can be reached: Debian's PostgreSQL, set up by the same variables.
FROM python:3.12-slim-bookworm
RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql && \
    rm -rf /var/lib/apt/lists/* /var/lib/postgresql/* && \
    install -d -o postgres -g postgres /var/lib/postgresql/data /var/run/postgresql && \
    ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data
COPY postgres.sh /usr/local/bin/
USER postgres
ENTRYPOINT ["sh", "/usr/local/bin/postgres.sh"]
