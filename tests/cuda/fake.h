/* fake.h - CUDA's run-time in the host's memory, for tests
 *
 * It does what cuda/runtime.h promises and nothing more: work on a stream is
 * done as late as it may be, when somebody waits for it; memory of a device
 * cannot be touched by the program (it is mapped without rights while no work
 * is done); copies from memory that is not pinned take it at once; what is
 * captured is done when it is replayed, and not before.
 *
 * The environment's GG_FAKE_CUDA makes a machine: words with blanks between,
 *   devices=N    how many there are (1)
 *   memory=N     MiB that each of them has (256); memory=N,M: the first, and
 *                those after it
 *   driver=none  there is no driver
 *   driver=old   it is too old
 *   lost=N       the devices are lost at the N-th launch
 *   cut=N        or at the N-th copy to them
 *   gpu=K        only device K is, at its own N-th launch or copy
 *   slow=N       milliseconds that a copy to it takes
 *   blas=none    there is no cuBLAS */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of calls and of bytes so far. */
struct fake_counts {
    long launches; /* of kernels; those of replays, too */
    long captures, replays, updates;
    long copies_in, copies_out, copies_between;
    long peers; /* ways from one device to another that were opened */
    size_t bytes_in, bytes_out;
    size_t allocated; /* bytes of devices, now */
};
extern struct fake_counts fake;

/* Another machine than the environment's, before the first call. */
void
fake_machine(const char *words);

/* From now on nothing works, until it is found again. */
void
fake_lose(bool lost);

/* Like fake_lose(), for this device alone. */
void
fake_lose_one(int device, bool lost);

#ifdef __cplusplus
}
#endif

#endif
