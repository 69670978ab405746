#!/usr/bin/env bash
# Installs and starts an S3 server that others wrote, which checks signatures and ranges, for the S3 suite of the tests.
#
#   .ci/s3-server.sh FOLDER
#
# Prints the endpoint and leaves the server running, its process id in FOLDER/pid, its log and all objects below FOLDER.
# The keys are ICEPLAN_S3_ACCESS_KEY_ID and ICEPLAN_S3_SECRET_ACCESS_KEY, the region ICEPLAN_S3_REGION.
# The program is built once, from source, into .ci/.cache. Without Go there is no server: that fails with exit code 3.
set -euo pipefail
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

version=v1.8.0
cache=$PWD/.ci/.cache/versitygw-$version

fail() {
  echo "S3 server: $1" >&2
  exit 3
}

if [ ! -x "$cache/versitygw" ]; then
  command -v go >/dev/null || fail 'cannot be installed: there is no Go'
  mkdir -p "$cache"
  GOBIN=$cache timeout 300 go install "github.com/versity/versitygw/cmd/versitygw@$version" >"$folder/install.log" 2>&1 ||
    fail "cannot be installed: $(tail -n 1 "$folder/install.log")"
fi

free_port() {
  node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => {
    console.log(s.address().port)
    s.close()
  })"
}

# Any answer will do: without a signature it is a refusal.
answers() {
  node -e "fetch('$1').then(() => process.exit(0), () => process.exit(1))"
}

mkdir -p "$folder/objects" "$folder/metadata"
# Another program may take the port between the choice and its use.
for _ in 1 2 3; do
  address=127.0.0.1:$(free_port)
  ROOT_ACCESS_KEY_ID=$ICEPLAN_S3_ACCESS_KEY_ID ROOT_SECRET_ACCESS_KEY=$ICEPLAN_S3_SECRET_ACCESS_KEY \
    "$cache/versitygw" --port "$address" --region "$ICEPLAN_S3_REGION" --keep-alive --quiet \
    posix --sidecar "$folder/metadata" "$folder/objects" >"$folder/log" 2>&1 </dev/null &
  pid=$!
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    if answers "http://$address"; then
      echo "$pid" >"$folder/pid"
      echo "http://$address"
      exit 0
    fi
    sleep 0.1
  done
  kill "$pid" 2>/dev/null || true
done
fail "does not start: $(tail -n 1 "$folder/log")"
