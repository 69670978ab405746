#!/usr/bin/env bash
# Installs and starts Iceberg's own REST catalog (the one of its tests, in Java) over a small warehouse on this disk.
#
#   .ci/rest-catalog.sh FOLDER
#
# Prints the catalog's uri and leaves the server running, its process id in FOLDER/pid, its log, warehouse and what Java
# plans of the tables (plans.json) below FOLDER. Tests find it by
#   ICEPLAN_REST_CATALOG_URI=<what is printed> ICEPLAN_REST_CATALOG_PLANS=FOLDER/plans.json
# Its programs are fetched once, into .ci/.cache. Without Java and Maven there is no catalog: that fails with exit code 3.
set -euo pipefail
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/rest-catalog"

cache=$PWD/../.cache/rest-catalog-$(cksum <pom.xml | cut -d ' ' -f 1)

fail() {
  echo "REST catalog: $1" >&2
  exit 3
}

command -v java >/dev/null || fail 'cannot be started: there is no Java'
if [ ! -d "$cache" ]; then
  command -v mvn >/dev/null || fail 'cannot be installed: there is no Maven'
  rm -rf "$cache.new"
  timeout 300 mvn -q -B dependency:copy-dependencies -DoutputDirectory="$cache.new" >"$folder/install.log" 2>&1 ||
    fail "cannot be installed: $(grep -m 1 ERROR "$folder/install.log")"
  mv "$cache.new" "$cache"
fi

java -cp "$cache/*" RestCatalogServer.java "$folder" >"$folder/server.log" 2>&1 &
echo $! >"$folder/pid"
for _ in $(seq 600); do
  [ -f "$folder/uri" ] && break
  kill -0 "$(cat "$folder/pid")" 2>/dev/null || fail "stopped: $(tail -n 1 "$folder/server.log")"
  sleep 0.1
done
[ -f "$folder/uri" ] || fail 'does not answer'
cat "$folder/uri"
