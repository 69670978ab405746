#!/bin/sh
# Builds the peer into .build/ beside this file; needs go 1.25.9 or newer. Two packages at a time at most.
set -eu
cd "$(dirname "$0")"
go build -trimpath -mod=readonly -p "${GO_JOBS:-1}" -o .build/iceplan-peer-go .
