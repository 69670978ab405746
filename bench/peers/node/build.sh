#!/bin/sh
# Installs icebird into node_modules/ beside this file. The plain decoder needs nothing: avsc is a dependency of the project.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
