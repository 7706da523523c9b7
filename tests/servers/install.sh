#!/usr/bin/env bash
# Fetches what the tests' servers need on this machine, as far as it is missing: the Kafka jars by Maven into
# tests/servers/jars, and Redis by the system's packages. Only CI (and whoever calls it by hand) installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# a registry may be away for a moment
tried() {
  for pause in 2 10 30; do
    "$@" </dev/null && return
    sleep "$pause"
  done
  "$@" </dev/null
}

if ! ls jars/kafka_2.13-*.jar >/dev/null 2>&1; then
  tried mvn --quiet --batch-mode --file pom.xml dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$PWD/jars"
fi
if ! command -v redis-server >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  tried apt-get update --quiet=2
  # the tests start servers of their own: the package must not start one
  export RUNLEVEL=1
  tried apt-get install --yes --quiet=2 --no-install-recommends redis-server >/dev/null
fi
