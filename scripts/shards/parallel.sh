#!/bin/sh
# parallel.sh N OUT.json FLAGS...: metaqda eval FLAGS in N shards under GNU parallel,
# merged into OUT.json. PARALLEL='--sshlogin a,b,: --workdir .' takes machines that share a folder.
set -eu
n=$1 out=$2 parts=$(mktemp -d "$2.XXXXXX")
shift 2
trap 'rm -rf "$parts"' EXIT
parallel -q --halt now,fail=1 "${METAQDA:=metaqda}" eval "$@" --workers 1 --shard "{}/$n" --json "$parts/{}.json" ::: $(seq "$n")
"$METAQDA" merge --json "$out" "$parts"/*.json
