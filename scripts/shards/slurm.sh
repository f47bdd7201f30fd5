#!/bin/sh
#SBATCH --job-name=metaqda --array=0-15 --cpus-per-task=2
# sbatch slurm.sh FLAGS...: metaqda eval FLAGS, a shard for each task of the array.
# When all are done: metaqda merge --json OUT.json shards/*.json
set -eu
mkdir -p "${SHARDS:=shards}"
exec "${METAQDA:-metaqda}" eval "$@" --workers "${SLURM_CPUS_PER_TASK:-1}" \
	--shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --json "$SHARDS/$SLURM_ARRAY_TASK_ID.json"
