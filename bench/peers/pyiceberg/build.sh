#!/bin/sh
# Makes the virtual environment .venv/ beside this file; needs Python 3.10 or newer as python3 (or as $PYTHON).
set -eu
cd "$(dirname "$0")"
"${PYTHON:-python3}" -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --requirement requirements.txt
