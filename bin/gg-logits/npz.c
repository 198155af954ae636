/* npz.c - the arrays of an archive: gg-logits(1) says what each holds */
#include <config.h>

#include "gg-logits/npz.h"

const struct npz_array npz_arrays[NPZ_N] = {
    [NPZ_LOGITS] = { "logits", "<f4", false },
    [NPZ_LOGIT_IDS] = { "logit_ids", "<i4", false },
    [NPZ_LOGITS_END] = { "logits_end", "<u8", false },
    [NPZ_LOG_SUM_EXP] = { "log_sum_exp", "<f8", false },
    [NPZ_SEQUENCE] = { "sequence", "<u8", false },
    [NPZ_POSITION] = { "position", "<u8", false },
    [NPZ_IDS] = { "ids", "<i4", false },
    [NPZ_IDS_END] = { "ids_end", "<u8", false },
    [NPZ_EVENT_ROW] = { "event_row", "<u8", false },
    [NPZ_EVENT_KIND] = { "event_kind", "|u1", false },
    [NPZ_EVENT_SEQUENCE] = { "event_sequence", "<u8", false },
    [NPZ_EVENT_MESSAGE] = { "event_message", "|u1", false },
    [NPZ_EVENT_MESSAGE_END] = { "event_message_end", "<u8", false },
    [NPZ_N_VOCAB] = { "n_vocab", "<u4", true },
    [NPZ_FINGERPRINT] = { "fingerprint", "<u8", true },
    [NPZ_KIND] = { "kind", "|u1", true },
    [NPZ_NUMBERED] = { "numbered", "|b1", true },
    [NPZ_EOG] = { "eog", "<i4", false },
    [NPZ_WRITER] = { "writer", "|u1", false },
};
