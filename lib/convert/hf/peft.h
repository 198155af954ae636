/* peft.h - folders of Hugging Face's PEFT */
#ifndef CONVERT_HF_PEFT_H
#define CONVERT_HF_PEFT_H

#include "convert/hf/model.h"

/* An adapter in the making. */
struct hf_peft {
    struct hf *h;
    struct core_json_keys config; /* adapter_config.json */
    double alpha;
    bool sqrt_rank;           /* alpha is divided by the root of the rank */
    const json_t *parameters; /* target_parameters, or NULL */
    uint64_t steps;           /* that are left for patterns of names */
};

/* Whether a folder has an adapter, and no model. */
bool
convert_hf_is_peft(const char *folder);
/* Or a model, and no adapter. */
bool
convert_hf_is_model(const char *folder);

/* The folder of the model that it was made for: `base`, or, where that is NULL,
 * what its configuration names. */
enum gg_status
convert_hf_peft_base(const char *folder, const char *base, char *out,
                     size_t size, struct gg_error *err);

/* By what B of a module is multiplied, so that alpha / rank of the file does
 * the rest. */
double
convert_hf_peft_factor(struct hf_peft *p, const char *module, int64_t rank);

struct hf_name;

/* peft_experts.c: takes A and B of a parameter with the matrices of all
 * experts, if the adapter changes that which the name stands for. */
bool
convert_hf_peft_take_experts(struct hf_peft *p, const char *prefix,
                             const char *to_prefix, const struct hf_name *name);

/* h, which has the keys of the base model, becomes the adapter. */
enum gg_status
convert_hf_peft_read(struct hf *h, const char *folder, struct gg_error *err);

#endif
