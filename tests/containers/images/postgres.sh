# What the image of the same name does with its variables, as far as the compose file uses them.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile=/dev/stdin --auth=scram-sha-256 --auth-local=trust --encoding=UTF8 --locale=C.UTF-8 <<END
$POSTGRES_PASSWORD
END
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  postgres --single -j postgres <<END
CREATE DATABASE "$POSTGRES_DB" OWNER "$POSTGRES_USER"
END
fi
exec postgres -c listen_addresses='*'
