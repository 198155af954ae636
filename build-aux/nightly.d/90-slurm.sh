#!/bin/sh
# 90-slurm.sh BUILD: examples/farm.sbatch by a Slurm of its own, of this one
# machine: a task is killed, one is queued again, and the bytes are one run's
set -eu
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$PATH:/usr/sbin
for tool in munged slurmctld slurmd sbatch scontrol squeue; do
    command -v $tool >/dev/null || { echo "no $tool: slurm-wlm, munge" && exit 77; }
done
make -s -C "$build/bin" && make -s -C "$build/tests" make_model >/dev/null
for tool in "$build"/bin/gg-*/; do PATH=${tool%/}:$PATH; done
export PATH GG_CUDA_MODULE=none

dir=$(mktemp -d /tmp/gg-slurm.XXXXXX)
chmod 755 "$dir" # munged and slurmd want their folders to be so
daemons=
stop() {
    for pid in $daemons; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$dir"
}
trap stop EXIT
begin() { # COMMAND: a daemon
    "$@" >>"$dir/daemons.log" 2>&1 &
    daemons="$! $daemons"
}
await() { # SECONDS WHAT COMMAND: until it succeeds
    for _ in $(seq $((5 * $1))); do
        if (shift 2 && eval "$*") >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    echo "$2: it took more than $1 s"
    tail -n 20 "$dir"/*.log
    exit 1
}

# ---- a Slurm of one node ----

host=$(hostname -s) user=$(id -un) port=$((20000 + $$ % 20000))
mkdir "$dir/munge" "$dir/state" "$dir/spool" "$dir/work"
chmod 700 "$dir/munge"
head -c 1024 /dev/urandom >"$dir/munge/key"
chmod 600 "$dir/munge/key"
cat >"$dir/slurm.conf" <<END
ClusterName=gg
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,requeue_delay=0
KillWait=2
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s\n' "$dir/cgroup" >"$dir/cgroup.conf"
export SLURM_CONF="$dir/slurm.conf"
begin munged --foreground --force --key-file="$dir/munge/key" \
    --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
    --log-file="$dir/munge.log" --seed-file="$dir/munge/seed"
await 20 munged "munge --socket '$dir/munge.socket' -n"
begin slurmctld -D -L "$dir/slurmctld.log"
begin slurmd -D -N "$host" -L "$dir/slurmd.log"
await 60 'the node' 'sinfo -h -o %T | grep -x idle'

# ---- a job of an array, and one run ----

cd "$dir/work"
make_model() { "$build/tests/make_model" "$@"; }
make_model llama-q4_0 model.gguf
export GG_MODEL="$dir/work/model.gguf" SEED=7 SOURCE_DATE_EPOCH=1700000000
n=4
for i in $(seq 800); do echo "{\"id\":$i,\"prompt\":\"a b $i\",\"n\":100}"; done >job.jsonl
echo '{"id":801,"prompt":"a","top_p":2}' >>job.jsonl # which fails
show() { squeue -h -r -o '%i %T restarts=%r' "$@"; }
echo "$ sbatch --array=1-$n farm.sbatch job.jsonl $n"
id=$(sbatch --parsable --array=1-$n -c 1 "$top/examples/farm.sbatch" job.jsonl $n)
await 60 'the first answers' 'test -s job.jsonl.part.1 -a -s job.jsonl.part.2'
squeue -r -o '%.10i %.10T %.4C' -j "$id"

echo '$ scontrol requeue, while it runs:' "${id}_1"
scontrol requeue "${id}_1"
wc -l job.jsonl.part.1
echo "$ kill -9 of gg-generate in ${id}_2"
pid=$(pgrep -f -- '--shard 2/4')
kill -9 $pid
await 60 'the end of the task that was killed' "! squeue -h -r -j '${id}_2' | grep ."
wc -l job.jsonl.part.2
scontrol show job "${id}_2" | grep -o 'JobState=[A-Z]*\|ExitCode=[0-9:]*\|Restarts=[0-9]*'
echo "$ sbatch --array=2: the task that failed, again"
again=$(sbatch --parsable --array=2 -c 1 "$top/examples/farm.sbatch" job.jsonl $n)
await 300 'the job' "! squeue -h -j '$id,$again' 2>/dev/null | grep ."
for task in 1 3 4; do
    echo "${id}_$task: $(scontrol show job "${id}_$task" |
        grep -o 'JobState=[A-Z]*\|ExitCode=[0-9:]*\|Restarts=[0-9]*' | tr '\n' ' ')"
done
cat gg-farm-*.log

echo "$ farm-merge job.jsonl $n"
"$top/examples/farm-merge" job.jsonl $n >answers.jsonl
status=0
gg-generate -q --jsonl -s $SEED -t 2 job.jsonl >whole.jsonl 2>words || status=$?
echo "one run: status $status, $(wc -l <whole.jsonl) answers; $(cat words)"
cmp whole.jsonl answers.jsonl
test $status = 3
test "$(scontrol show job "${id}_1" | grep -o 'Restarts=[0-9]*')" = Restarts=1
sha256sum whole.jsonl answers.jsonl
