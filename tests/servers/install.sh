#!/usr/bin/env bash
# Fetches what the tests' servers need on this machine, as far as it is missing: the Kafka jars by Maven into
# tests/servers/jars, and Redis by the system's packages. Only CI (and whoever calls it by hand) installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! ls jars/kafka_2.13-*.jar >/dev/null 2>&1; then
  mvn --quiet --batch-mode --file pom.xml dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$PWD/jars" </dev/null
fi
if ! command -v redis-server >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update --quiet=2 </dev/null
  # the tests start servers of their own: the package must not start one
  RUNLEVEL=1 apt-get install --quiet=2 --no-install-recommends redis-server </dev/null >/dev/null
fi
