#!/bin/sh
# Runs a compilation by nvcc: keep_ptxas.sh nvcc ARGUMENT... What ptxas says of registers and spills goes to OBJECT.ptxas, which a test reads.
for argument; do
  [ "$before" = -o ] && object=$argument
  before=$argument
done
"$@" 2>"$object.ptxas"
status=$?
grep -vE '^ptxas info|bytes stack frame' "$object.ptxas" >&2
exit $status
