/* states.h - what families with state spaces have in common */
#ifndef CONVERT_HF_STATES_H
#define CONVERT_HF_STATES_H

#include "convert/hf/families.h"

/* Names of layers by that of their state space; all optional where others have
 * none. */
#define HF_COLUMNS(of, how)                                                    \
    { of ".conv1d.weight", "ssm_conv1d.weight",                                \
      HF_SQUEEZE | HF_EXACT | HF_F32 | (how) },                                \
        { of ".conv1d.bias", "ssm_conv1d.bias",                                \
          HF_EXACT | HF_F32 | HF_OPTIONAL },                                   \
        { of ".in_proj", "ssm_in", (how) },                                    \
    {                                                                          \
        of ".out_proj", "ssm_out", (how)                                       \
    }
#define HF_MAMBA1(of, how)                                                     \
    HF_COLUMNS(of, how), { of ".x_proj", "ssm_x", (how) },                     \
        { of ".dt_proj", "ssm_dt", (how) },                                    \
        { of ".A_log", "ssm_a", HF_EXACT | HF_F32 | HF_DECAYS | (how) },       \
    {                                                                          \
        of ".D", "ssm_d", HF_EXACT | HF_F32 | (how)                            \
    }
#define HF_MAMBA2(of, how)                                                     \
    HF_COLUMNS(of, how),                                                       \
        { of ".dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | (how) },           \
        { of ".A_log", "ssm_a",                                                \
          HF_SQUEEZE | HF_EXACT | HF_F32 | HF_DECAYS | (how) },                \
        { of ".D", "ssm_d", HF_SQUEEZE | HF_EXACT | HF_F32 | (how) },          \
    {                                                                          \
        of ".norm.weight", "ssm_norm.weight",                                  \
            HF_GROUPED | HF_EXACT | HF_F32 | HF_OPTIONAL                       \
    }

/* Names outside the layers of models that are called backbone. */
extern const struct hf_name convert_hf_backbone[];
/* Names outside the layers, where the last norm is a final_layernorm. */
extern const struct hf_name convert_hf_final_norm[];

/* A rank that is a sixteenth of the embedding unless the configuration has a
 * number. */
int64_t
convert_hf_rank_of(struct hf *h, const char *name);
/* Keys of a state space. */
void
convert_hf_set_space(struct hf *h, int64_t n_inner, int64_t d_state,
                     int64_t n_rank);

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
