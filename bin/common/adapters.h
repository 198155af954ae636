/* adapters.h - options of LoRA adapters and control vectors */
#ifndef COMMON_ADAPTERS_H
#define COMMON_ADAPTERS_H

#include <gg.h>

#include "common/options.h"

struct adapter_options {
    struct gg_adapter *list; /* as the command line has them */
    bool *vectors;           /* each: it is a control vector */
    size_t n;
    int32_t first, last; /* layers that control vectors are added after */
};

/* --lora, and, but for the last table, --control-vector and its layers. */
extern const struct cli_option adapter_rows[];
extern const struct cli_option adapter_lora_rows[];

void
adapters_clear(struct adapter_options *o);

/* The list, with its layers, as gg_model_open() takes it. */
const struct gg_adapter *
adapters_list(struct adapter_options *o);

/* The place in the list of that of a kind which has a name: that of its file,
 * with or without its folders, and ".gguf"; -1: none has, or several. */
int
adapters_find(const struct adapter_options *o, bool vectors, const char *name);

/* The place in the list of number i of a kind; -1: there are fewer. */
int
adapters_at(const struct adapter_options *o, bool vectors, size_t i);

#endif
