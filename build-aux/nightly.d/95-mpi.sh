#!/bin/sh
# 95-mpi.sh BUILD: --mpi layers: two ranks of each library of MPI that there is
# give the bytes of one process, of models of all families
set -eu
build=$(cd "$1" && pwd)
make -s -C "$build/bin" && make -s -C "$build/tests" make_model >/dev/null
for tool in "$build"/bin/gg-*/; do PATH=${tool%/}:$PATH; done
PATH=$build/tests:$PATH
export PATH GG_CUDA_MODULE=none
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_btl_vader_single_copy_mechanism=none
kinds=
for mpi in openmpi mpich; do
    test -f "$build/lib/.libs/gg-mpi-$mpi.so" && command -v mpirun.$mpi >/dev/null &&
        kinds="$kinds $mpi"
done
test -n "$kinds" || { echo "no module for MPI, or no mpirun" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for i in 1 2 3 4 5; do
    echo "$i	$(seq $((20 * i)) | awk '{ printf "%d ", 3 + $1 * $1 % 90 }')"
done | sed 's/ $//' >ids # longer than some windows

# run COMMAND...: logits after records of ids, or embeddings; and a text
run() {
    if test "$encodes"; then
        "$@" gg-eval $ranks -q -t 1 -m model --embed mean <ids >out 2>err
    else
        "$@" gg-eval $ranks -q -t 1 -m model <ids >out 2>err &&
            "$@" gg-generate $ranks -q -t 1 -m model -n 8 --greedy -p 'a b c d' \
                >>out 2>err
    fi
}
compared=0 undivided= failed=0
for family in $(make_model 2>&1 | sed -n 's/^all families: //p'); do
    ran=
    # as many layers as it takes: two at least, one for each rank
    for layers in '' :2 :4 :8; do
        make_model "$family-f32$layers" model 2>/dev/null || continue
        encodes= ranks=
        run command || { encodes=1 && run command; } || continue
        mv out want
        ran=1
        ranks='--mpi layers'
        set -- $kinds
        run mpirun.$1 -n 2 </dev/null && break
        grep -q 'more than the model has layers' err || break
        layers=none
    done
    test "$ran" || continue # MTP layers alone
    if test "$layers" = none; then
        undivided="$undivided $family"
        continue
    fi
    for mpi in $kinds; do
        compared=$((compared + 1))
        if ! run mpirun.$mpi -n 2 || ! cmp out want; then
            echo "$family, $mpi: $(head -n 3 err)"
            failed=$((failed + 1))
        fi
    done
done
echo "$compared compared, $failed failed; cannot be divided:$undivided"
test $failed = 0 && test $compared -gt 30
