#!/bin/sh
# Builds the peer into target/ beside this file; needs cargo 1.94 or newer. One crate at a time, since the machine is small.
set -eu
cd "$(dirname "$0")"
cargo build --release --locked -j "${CARGO_JOBS:-1}"
