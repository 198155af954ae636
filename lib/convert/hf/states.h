/* states.h - what families with state spaces have in common */
#ifndef CONVERT_HF_STATES_H
#define CONVERT_HF_STATES_H

#include "convert/hf/families.h"

/* Of layers by the name of their state space; all optional where others have
 * none. */
#define HF_COLUMNS(of, how)                                                    \
    { of ".conv1d.weight", "ssm_conv1d.weight",                                \
      HF_EXACT | HF_F32 | HF_SQUEEZE | (how) },                                \
        { of ".conv1d.bias", "ssm_conv1d.bias",                                \
          HF_EXACT | HF_F32 | HF_OPTIONAL },                                   \
        { of ".in_proj", "ssm_in", (how) },                                    \
    {                                                                          \
        of ".out_proj", "ssm_out", (how)                                       \
    }
#define HF_MAMBA2(of, how)                                                     \
    HF_COLUMNS(of, how),                                                       \
        { of ".dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | (how) },           \
        { of ".A_log", "ssm_a",                                                \
          HF_EXACT | HF_F32 | HF_DECAYS | HF_SQUEEZE | (how) },                \
        { of ".D", "ssm_d", HF_EXACT | HF_F32 | HF_SQUEEZE | (how) },          \
    {                                                                          \
        of ".norm.weight", "ssm_norm.weight",                                  \
            HF_EXACT | HF_F32 | HF_GROUPED | HF_OPTIONAL                       \
    }

/* Of models that are called so. */
extern const struct hf_name convert_hf_backbone[];

/* Mamba 2: keys of heads of channels; names of their number and length in the
 * configuration, and how many channels there are. */
void
convert_hf_set_heads(struct hf *h, const char *heads, const char *length,
                     int64_t n_inner);

/* Keys and values are those of layers whose element of `has` is true. Frees
 * it; NULL says that there was no memory. */
void
convert_hf_set_attention(struct hf *h, bool *has);

#endif
