#!/bin/sh
# start.sh DIR [PORT]: makes this machine a Slurm cluster of four nodes with four processors each. All of its files are in DIR, and its
# ports start at PORT. Needs root. It prints "ready" when the nodes are up, and runs until SIGTERM ends it and the cluster.
set -eu
dir=$1
host=$(hostname -s)
base=${2:-28000}
mkdir -p "$dir/state" "$dir/log"
chmod 755 "$dir"
dd if=/dev/urandom of="$dir/munge.key" bs=1k count=1 status=none
chmod 400 "$dir/munge.key"
cat >"$dir/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
KillWait=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=4 RealMemory=8000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=4 RealMemory=8000
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 3)) CPUs=4 RealMemory=8000
NodeName=n4 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 4)) CPUs=4 RealMemory=8000
PartitionName=all Nodes=n1,n2,n3,n4 Default=YES
END
pids=
trap 'kill $pids 2>/dev/null; wait; exit 0' TERM INT
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" --log-file="$dir/log/munged" --seed-file="$dir/munge.seed" >/dev/null 2>&1 &
pids=$!
until [ -S "$dir/munge.socket" ]; do sleep 0.1; done
export SLURM_CONF="$dir/slurm.conf"
slurmctld -D -i >"$dir/log/slurmctld" 2>&1 &
pids="$pids $!"
for n in 1 2 3 4; do
	slurmd -D -N "n$n" >"$dir/log/n$n" 2>&1 &
	pids="$pids $!"
done
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ]; do sleep 0.2; done
echo ready
wait
