/* npz.h - records as arrays of NumPy: which arrays an archive has */
#ifndef LOGITS_NPZ_H
#define LOGITS_NPZ_H

#include <stdbool.h>

/* The arrays of an archive, in the order in which they are written. */
enum {
    NPZ_LOGITS,
    NPZ_LOGIT_IDS,
    NPZ_LOGITS_END,
    NPZ_LOG_SUM_EXP,
    NPZ_SEQUENCE,
    NPZ_POSITION,
    NPZ_IDS,
    NPZ_IDS_END,
    NPZ_EVENT_ROW,
    NPZ_EVENT_KIND,
    NPZ_EVENT_SEQUENCE,
    NPZ_EVENT_MESSAGE,
    NPZ_EVENT_MESSAGE_END,
    NPZ_N_ROWS,
    NPZ_N_VOCAB = NPZ_N_ROWS,
    NPZ_FINGERPRINT,
    NPZ_KIND,
    NPZ_NUMBERED,
    NPZ_EOG,
    NPZ_WRITER,
    NPZ_N
};

/* Where files are while they are written. */
const char *
npz_scratch_folder(void);

extern const struct npz_array {
    const char *name; /* "logits" */
    const char *type; /* "<f4", as npy.h has them */
    bool scalar;
} npz_arrays[NPZ_N];

#endif
