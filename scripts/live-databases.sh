#!/usr/bin/env bash
# Databases for the live tests: `scripts/live-databases.sh run COMMAND…` installs what Debian has
# (as root, where apt-get is; nothing is started by the packages), starts each on a free port of
# loopback with data that are thrown away, and runs COMMAND with their addresses in
# ISOBAR_TEST_POSTGRES, ISOBAR_TEST_MYSQL, ISOBAR_TEST_GALERA, ISOBAR_TEST_FIREBIRD,
# ISOBAR_TEST_REDIS and ISOBAR_TEST_ETCD. When COMMAND has ended, or a signal came, all of them are stopped. What cannot be
# had is said, and left out.
set -euo pipefail

# No package starts a service of its own.
POLICY=/usr/sbin/policy-rc.d
install() { # COMMAND-OR-FILE PACKAGE
  if command -v "$1" >/dev/null || compgen -G "$1" >/dev/null; then return; fi
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  export DEBIAN_FRONTEND=noninteractive
  local policy='' code=0
  if [ ! -e "$POLICY" ]; then
    policy=ours
    printf '#!/bin/sh\nexit 101\n' >"$POLICY"
    chmod +x "$POLICY"
  fi
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Options::=--force-confold "$2"; } >/dev/null 2>&1 || code=1
  if [ -n "$policy" ]; then rm -f "$POLICY"; fi
  return "$code"
}

if [ "${1-}" = install ] && [ $# = 3 ]; then
  install "$2" "$3"
  exit
fi
if [ "${1-}" != run ] || [ $# -lt 2 ]; then
  echo "usage: $0 run COMMAND… | install COMMAND-OR-FILE PACKAGE" >&2
  exit 2
fi
shift

HOME_OF_ALL=$(mktemp -d)
chmod 711 "$HOME_OF_ALL"
SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
PIDS=()
COMMAND=

stop_all() {
  if [ -n "$COMMAND" ]; then kill -TERM "$COMMAND" 2>/dev/null || true; fi
  # PostgreSQL waits for its clients after the one signal, and ends at the other.
  for pid in ${PIDS[@]+"${PIDS[@]}"}; do
    kill -TERM "$pid" 2>/dev/null && kill -INT "$pid" 2>/dev/null || true
  done
  for pid in ${PIDS[@]+"${PIDS[@]}"}; do
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$HOME_OF_ALL"
}
trap stop_all EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Servers that refuse to run as root, and all others too, run as nobody.
as_nobody() {
  if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; fi
  exec "$@"
}

make_home() { # NAME
  local home="$HOME_OF_ALL/$1"
  mkdir -m 700 "$home"
  if [ "$(id -u)" = 0 ]; then chown nobody:nogroup "$home"; fi
  echo "$home"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)) && listens "$port"; do :; done
  echo "$port"
}

# Starts a server in the background and waits until it listens, or has ended.
start() { # NAME PORT COMMAND…
  local name=$1 port=$2
  shift 2
  (as_nobody "$@") >"$HOME_OF_ALL/$name.log" 2>&1 </dev/null &
  local pid=$!
  for _ in $(seq 300); do
    if listens "$port"; then
      PIDS+=("$pid")
      return 0
    fi
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
  return 1
}

start_postgres() {
  local bin home port
  bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -1) || return 1
  home=$(make_home postgres)
  echo "$SECRET" >"$HOME_OF_ALL/postgres.secret"
  chmod 644 "$HOME_OF_ALL/postgres.secret"
  (as_nobody "$bin/initdb" -D "$home/data" -U isobar --auth=scram-sha-256 \
    --pwfile="$HOME_OF_ALL/postgres.secret" --no-sync --locale=C --encoding=UTF8) \
    >"$HOME_OF_ALL/initdb.log" 2>&1 || return 1
  rm "$HOME_OF_ALL/postgres.secret"
  port=$(free_port)
  start postgres "$port" "$bin/postgres" -D "$home/data" -c listen_addresses=127.0.0.1 \
    -c "port=$port" -c unix_socket_directories= -c fsync=off || return 1
  export ISOBAR_TEST_POSTGRES="postgres://isobar:$SECRET@127.0.0.1:$port/postgres"
}

# An empty server of MariaDB, and what is to be run at its first start.
prepare_mariadb() { # HOME
  local home=$1
  command -v mariadbd >/dev/null || return 1
  (as_nobody mariadb-install-db --no-defaults --datadir="$home/data" --skip-test-db \
    --auth-root-authentication-method=normal) >"$home.log" 2>&1 || return 1
  (
    umask 077
    cat >"$home/init.sql" <<SQL
CREATE DATABASE isobar;
CREATE USER isobar@'127.0.0.1' IDENTIFIED BY '$SECRET';
GRANT ALL ON \`isobar%\`.* TO isobar@'127.0.0.1';
GRANT PROCESS ON *.* TO isobar@'127.0.0.1';
CREATE USER isobar_plain@'127.0.0.1' IDENTIFIED BY '$SECRET';
GRANT ALL ON \`isobar%\`.* TO isobar_plain@'127.0.0.1';
DELETE FROM mysql.global_priv WHERE User NOT IN ('isobar', 'isobar_plain', 'mariadb.sys');
FLUSH PRIVILEGES;
SQL
  )
  if [ "$(id -u)" = 0 ]; then chown nobody "$home/init.sql"; fi
}

run_mariadb() { # NAME PORT HOME DATA OPTION…
  local name=$1 port=$2 home=$3 data=$4
  shift 4
  start "$name" "$port" mariadbd --no-defaults --datadir="$data" --port="$port" \
    --bind-address=127.0.0.1 --socket="$home/$name.socket" --pid-file="$home/$name.pid" \
    --innodb-flush-log-at-trx-commit=0 --innodb-lock-wait-timeout=2 --max-connections=300 "$@"
}

start_mariadb() {
  local home port
  home=$(make_home mariadb)
  prepare_mariadb "$home" || return 1
  port=$(free_port)
  run_mariadb mariadb "$port" "$home" "$home/data" --init-file="$home/init.sql" || return 1
  export ISOBAR_TEST_MYSQL="mysql://isobar:$SECRET@127.0.0.1:$port/isobar"
}

# Three nodes that replicate to each other; the second and third get their data from those that are
# there, by rsync. On a busy machine a node may be slow to answer.
start_galera() {
  local home provider peers=() members=() hosts=() i port options own
  provider=$(compgen -G '/usr/lib/galera/libgalera_smm.so') || return 1
  home=$(make_home galera)
  prepare_mariadb "$home" || return 1
  # Nodes are cut off from each other by a setting.
  printf '%s\n' "GRANT SUPER ON *.* TO isobar@'127.0.0.1';" 'SHUTDOWN;' >>"$home/init.sql"
  (as_nobody mariadbd --no-defaults --datadir="$home/data" --skip-networking \
    --socket="$home/socket" --pid-file="$home/pid" --init-file="$home/init.sql") \
    >"$HOME_OF_ALL/galera-init.log" 2>&1 </dev/null || true
  for i in 0 1 2; do
    cp -a "$home/data" "$home/data$i"
    peers+=("$(free_port)")
    members+=("127.0.0.1:${peers[$i]}")
  done
  for i in 0 1 2; do
    port=$(free_port)
    hosts+=("127.0.0.1:$port")
    options="gmcast.listen_addr=tcp://${members[$i]};ist.recv_addr=127.0.0.1:$(free_port)"
    options="$options;gcache.size=32M;evs.suspect_timeout=PT30S;evs.inactive_timeout=PT60S"
    own=()
    if [ "$i" = 0 ]; then own=(--wsrep-new-cluster); fi
    run_mariadb "galera$i" "$port" "$home" "$home/data$i" --innodb-buffer-pool-size=32M \
      --binlog-format=ROW --innodb-autoinc-lock-mode=2 --wsrep-on=ON \
      --wsrep-provider="$provider" --wsrep-provider-options="$options" \
      --wsrep-sst-method=rsync --wsrep-sst-receive-address="127.0.0.1:$(free_port)" \
      --wsrep-cluster-name=isobar --wsrep-node-name="node$i" --wsrep-node-address=127.0.0.1 \
      --wsrep-cluster-address="gcomm://$(IFS=,; echo "${members[*]}")" \
      ${own[@]+"${own[@]}"} || return 1
  done
  export ISOBAR_TEST_GALERA="mysql://isobar:$SECRET@$(IFS=,; echo "${hosts[*]}")/isobar"
}

# A server of its own, with its own accounts: what it would share stands in the folder that
# FIREBIRD names.
start_firebird() {
  local home port own
  command -v isql-fb >/dev/null || return 1
  home=$(make_home firebird)
  port=$(free_port)
  mkdir "$home/root" "$home/lock" "$home/data"
  ln -s /usr/lib/*/firebird/3.0/plugins /usr/lib/*/firebird/3.0/intl "$home/root"
  ln -s /usr/lib/*/firebird/3.0/firebird.msg "$home/root"
  : >"$home/root/databases.conf"
  cat >"$home/root/firebird.conf" <<CONF
RemoteServicePort = $port
RemoteBindAddress = 127.0.0.1
SecurityDatabase = $home/data/security.fdb
DatabaseAccess = Restrict $home/data
DeadlockTimeout = 1
CONF
  if [ "$(id -u)" = 0 ]; then chown -R nobody:nogroup "$home"; fi
  own=(env "FIREBIRD=$home/root" "FIREBIRD_LOCK=$home/lock" "FIREBIRD_TMP=$home/lock")
  (as_nobody "${own[@]}" isql-fb -q -user SYSDBA) >"$HOME_OF_ALL/isql.log" 2>&1 <<SQL || return 1
CREATE DATABASE '$home/data/security.fdb';
CREATE USER SYSDBA PASSWORD '$SECRET' USING PLUGIN Srp;
CREATE DATABASE '$home/data/isobar.fdb' PAGE_SIZE 16384;
SQL
  start firebird "$port" "${own[@]}" /usr/sbin/firebird || return 1
  export ISOBAR_TEST_FIREBIRD="firebird://SYSDBA:$SECRET@127.0.0.1:$port/$home/data/isobar.fdb"
}

start_redis() {
  local home port
  command -v redis-server >/dev/null || return 1
  home=$(make_home redis)
  port=$(free_port)
  start redis "$port" redis-server --port "$port" --bind 127.0.0.1 --dir "$home" --save '' \
    --appendonly no --requirepass "$SECRET" || return 1
  export ISOBAR_TEST_REDIS="redis://:$SECRET@127.0.0.1:$port/0"
}

start_etcd() {
  local home port peer
  command -v etcd >/dev/null || return 1
  home=$(make_home etcd)
  port=$(free_port)
  peer=$(free_port)
  start etcd "$port" etcd --name isobar --data-dir "$home/data" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
    --listen-peer-urls "http://127.0.0.1:$peer" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "isobar=http://127.0.0.1:$peer" || return 1
  export ISOBAR_TEST_ETCD="etcd://127.0.0.1:$port"
}

# PostgreSQL's package would make a cluster of its own; ours is enough.
if [ "$(id -u)" = 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
  mkdir -p /etc/postgresql-common
  echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
fi
provide() { # NAME COMMAND-OR-FILE PACKAGE
  install "$2" "$3" && "start_$1" ||
    echo "SKIPPED: the live tests on $1 ($3 could not be installed or started)" >&2
}
install pgbouncer pgbouncer || echo "SKIPPED: the live tests behind a pooler" >&2
install psql postgresql-client || echo "SKIPPED: psql as a client of the proxy" >&2
install '/usr/lib/python3/dist-packages/psycopg2' python3-psycopg2 ||
  echo "SKIPPED: psycopg2 as a client of the proxy" >&2
{ install javac default-jdk-headless && install /usr/share/java/postgresql.jar libpostgresql-jdbc-java; } ||
  echo "SKIPPED: JDBC as a client of the proxy" >&2
{ install go golang-go && install /usr/share/gocode/src/github.com/lib/pq golang-github-lib-pq-dev; } ||
  echo "SKIPPED: Go as a client of the proxy" >&2
install '/usr/lib/*/faketime/libfaketime.so.1' libfaketime ||
  echo "SKIPPED: the live tests with a clock that is wrong (libfaketime)" >&2
provide postgres '/usr/lib/postgresql/*/bin/postgres' postgresql
provide mariadb mariadbd mariadb-server
provide galera /usr/lib/galera/libgalera_smm.so galera-4
install isql-fb firebird3.0-utils || true
provide firebird /usr/sbin/firebird firebird3.0-server
provide redis redis-server redis-server
provide etcd etcd etcd-server

# In the background, because a shell that waits for a command in the foreground heeds no signal.
"$@" <&0 &
COMMAND=$!
wait "$COMMAND"
