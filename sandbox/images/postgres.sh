#!/bin/sh
# Starts PostgreSQL as the official image does: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, each also as …_FILE,
# POSTGRES_INITDB_ARGS, POSTGRES_HOST_AUTH_METHOD and PGDATA. It differs in this: it never runs as root, it reads no
# /docker-entrypoint-initdb.d, and a first start that was killed is begun anew.
set -eu

say() { echo "postgres: $*" >&2; }
fail() { say "$*"; exit 1; }

# The value of a variable, or of the file that <variable>_FILE names.
value() {
  eval "plain=\${$1:-} file=\${$1_FILE:-}"
  if [ -n "$plain" ] && [ -n "$file" ]; then fail "$1 and $1_FILE are both set; set one of them"; fi
  if [ -n "$file" ]; then plain=$(cat "$file") || fail "$1_FILE names $file, which cannot be read"; fi
  printf '%s' "$plain"
}

# Make the cluster of databases in a directory of its own, and move it to its place with what makes it whole, its
# PG_VERSION, last: whatever interrupts this, the next start finds either nothing or all.
initialise() {
  new="$PGDATA/.initialising"
  if [ ! -e "$new/.whole" ]; then
    rm -rf "$new"
    mkdir -m 0700 "$new"
    secret=$(mktemp)
    printf '%s\n' "$password" >"$secret"
    # shellcheck disable=SC2086 # several arguments in one variable, as the official image has it
    initdb -D "$new" --username="$user" --pwfile="$secret" --encoding=UTF8 --locale=C.UTF-8 \
      --auth-local=trust --auth-host="$method" ${POSTGRES_INITDB_ARGS:-}
    rm -f "$secret"
    printf '\nhost all all all %s\n' "$method" >>"$new/pg_hba.conf"
    if [ "$database" != postgres ]; then
      # Single-user mode: nothing can connect to a server whose databases are not made yet.
      printf 'CREATE DATABASE "%s"\n' "$(printf '%s' "$database" | sed 's/"/""/g')" |
        postgres --single -j -D "$new" postgres >/dev/null
    fi
    sync
    : >"$new/.whole"
  fi
  for path in "$new"/*; do
    if [ "${path##*/}" != PG_VERSION ]; then mv "$path" "$PGDATA/"; fi
  done
  mv "$new/PG_VERSION" "$PGDATA/"
  rm -rf "$new"
  say "made the databases in $PGDATA"
}

if [ "${1:-postgres}" != postgres ] && [ "${1#-}" = "$1" ]; then exec "$@"; fi
if [ "${1:-}" = postgres ]; then shift; fi

PGDATA=${PGDATA:-/var/lib/postgresql/data}
export PGDATA
mkdir -p "$PGDATA" 2>/dev/null || fail "$PGDATA cannot be made; mount a volume there that user $(id -u) may write"
chmod 0700 "$PGDATA" 2>/dev/null || say "the mode of $PGDATA cannot be set: it belongs to user $(stat -c %u "$PGDATA")"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=$(value POSTGRES_USER)
  user=${user:-postgres}
  database=$(value POSTGRES_DB)
  database=${database:-$user}
  password=$(value POSTGRES_PASSWORD)
  method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  if [ -z "$password" ] && [ "$method" != trust ]; then
    fail "POSTGRES_PASSWORD is empty and $PGDATA holds no databases yet; set it or POSTGRES_PASSWORD_FILE"
  fi
  initialise
fi
unset POSTGRES_PASSWORD

sockets=/tmp
if [ -w /var/run/postgresql ]; then sockets=/tmp,/var/run/postgresql; fi
exec postgres -c listen_addresses='*' -c unix_socket_directories="$sockets" "$@"
