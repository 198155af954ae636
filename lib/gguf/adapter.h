/* adapter.h - the format of adapter files, which change a model: LoRA (general.
 * type "adapter"), and control vectors (general.architecture "controlvector")
 *
 * A LoRA adapter has for a tensor of the model, NAME, either two, NAME.lora_a
 * (n_in x rank) and NAME.lora_b (rank x n_out), whose product is added, times
 * alpha / rank; or one of the same name, which takes its place. Of the
 * embedding, whose rows are looked up, lora_a is rank x n_vocab and lora_b rank
 * x n_embd. A control vector has "direction.N", what is added after layer N;
 * layers count from 0, and the first has none. */
#ifndef GGUF_ADAPTER_H
#define GGUF_ADAPTER_H

#include "gguf/reader.h"

#define GGUF_ADAPTER_ALPHA  "adapter.lora.alpha"
#define GGUF_ADAPTER_VECTOR "direction."

enum gguf_adapter_kind {
    GGUF_ADAPTER_NONE, /* no adapter, or of a kind that is not known */
    GGUF_ADAPTER_LORA,
    GGUF_ADAPTER_CONTROL,
};

enum gguf_adapter_part {
    GGUF_ADAPTER_A,
    GGUF_ADAPTER_B,
    GGUF_ADAPTER_WHOLE, /* in the tensor's place */
};

enum gguf_adapter_kind
gguf_adapter_kind_of(const struct gguf_context *gguf);

/* Which part of what a tensor of an adapter is; base gets the model's tensor's
 * name. */
enum gguf_adapter_part
gguf_adapter_split_name(const char *name, char base[GGML_MAX_NAME]);

/* The name of a part; false: it is too long. */
bool
gguf_adapter_part_name(const char *base, enum gguf_adapter_part part,
                       char name[GGML_MAX_NAME]);

/* The keys of a LoRA adapter for models of that family; alpha 0: what lora_a
 * and lora_b give is added as it is. */
void
gguf_adapter_set_lora(struct gguf_context *gguf, const char *architecture,
                      float alpha);

/* The factor of the product of a pair. */
static inline float
gguf_adapter_scale(float alpha, int64_t rank)
{
    return alpha != 0 ? alpha / (float)rank : 1;
}

#endif
