#!/bin/sh
# Compiles into target/classes and puts the libraries into target/lib. Needs a JDK 17 and Maven.
set -eu
cd "$(dirname "$0")"
rm -rf target
mvn -q compile dependency:copy-dependencies
touch target/built
