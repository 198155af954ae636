/* fake_parts.h - between the files of the run-time that tests use */
#ifndef FAKE_PARTS_H
#define FAKE_PARTS_H

#include "cuda/fake.h"
#include "cuda/runtime.h"

/* One thread at a time. The status is CUDA_OK, unless the device is lost: the
 * thread's current one, or that one. */
enum cuda_status
fake_enter(void);
enum cuda_status
fake_enter_on(int device);
enum cuda_status
fake_leave(enum cuda_status st);

/* Says what was wrong; CUDA_FAILED. */
enum cuda_status
fake_fail(const char *words);
bool
fake_is_lost(int device);
int
fake_current(void);
/* Events that may lose a device. */
void
fake_count_launch(int device);
void
fake_count_copy_in(int device);
bool
fake_has_blas(void);
/* As long as a copy to a device takes. */
void
fake_delay(void);

enum fake_memory {
    FAKE_PAGED,
    FAKE_PINNED,
    FAKE_DEVICE
};
enum fake_memory
fake_memory_of(const void *p);
enum {
    FAKE_ALL = -1
};
/* Work may touch a device's memory in between, or FAKE_ALL's, once it says so.
 */
void
fake_allow(int device);
void
fake_open_memory(void);
void
fake_close_memory(void);

void
fake_gemm(const struct cuda_gemm *g);

/* All work of all streams. */
void
fake_flush_all(void);
/* True, and the capture is spoiled, if a stream is being captured. */
bool
fake_is_capturing(void);

#endif
