/* fuzz_peft.c - folders of PEFT with a LoRA adapter: a word at most, and
 * tensors that can be made where one was opened
 *
 * The first byte of an input says which model the adapter is of and which file
 * of the adapter's folder the rest becomes. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folders.h"
#include "fuzz.h"
#include "harness/scratch.h"

const char fuzz_name[] = "peft";

enum {
    N_BASES = 2,
    N_FILES = 2,
    N_PARTS = 4,
    RANK = 2,
};

static const size_t bases[N_BASES] = { FOLDERS_LLAMA3, FOLDERS_MIXTRAL };
static const char *const files[N_FILES] = { "adapter_config.json",
                                            "adapter_model.safetensors" };

/* A tensor of layer 0, in the order of the file; columns 0 is a vector. */
struct part {
    const char *name;
    int rows, columns;
};

static const struct {
    const char *config;
    struct part parts[N_PARTS];
} adapters[N_BASES] = {
    { "{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":3,\"use_rslora\":true,"
      "\"rank_pattern\":{\"down_proj\":2},\"alpha_pattern\":{\"layers.0.self_"
      "attn.q_proj\":4},\"modules_to_save\":[\"input_layernorm\"],"
      "\"bias\":\"none\",\"target_modules\":[\"q_proj\",\"down_proj\"],"
      "\"base_model_name_or_path\":\"../0\"}",
      { { "input_layernorm.weight", 4, 0 },
        { "mlp.down_proj.lora_A.weight", RANK, 4 },
        { "mlp.down_proj.lora_B.weight", 4, RANK },
        { NULL, 0, 0 } } },
    { "{\"peft_type\":\"LORA\",\"r\":2,\"lora_alpha\":2,\"target_parameters\":["
      "\"mlp.experts.down_proj\",\"experts.gate_up_proj\"]}",
      { { "mlp.experts.base_layer.lora_A.weight", 2 * RANK, 4 },
        { "mlp.experts.base_layer.lora_B.weight", 8, 2 * RANK },
        { "mlp.experts.lora_A.weight", 2 * RANK, 4 },
        { "mlp.experts.lora_B.weight", 4, 2 * RANK } } },
};

/* ---- the folders ----------------------------------------------------------
 */

/* The file of an adapter, whose data is zeros after its head. */
static void
weights(size_t of, const char *path)
{
    char out[4096] = { 0 }, *head = out + 8;
    size_t at = 0, n = 0;
    uint64_t size;

    for (int i = 0; i < N_PARTS && adapters[of].parts[i].name; i++) {
        const struct part *p = &adapters[of].parts[i];
        size_t bytes = 4 * (size_t)(p->rows * (p->columns ? p->columns : 1));
        char shape[32];

        snprintf(shape, sizeof(shape), p->columns ? "%d,%d" : "%d", p->rows,
                 p->columns);
        n += (size_t)snprintf(head + n, 2000 - n,
                              "%c\"base_model.model.model.layers.0.%s\":{"
                              "\"dtype\":\"F32\",\"shape\":[%s],"
                              "\"data_offsets\":[%zu,%zu]}",
                              i ? ',' : '{', p->name, shape, at, at + bytes);
        at += bytes;
    }
    head[n++] = '}';
    size = n;
    for (int i = 0; i < 8; i++)
        out[i] = (char)(size >> 8 * i);
    fuzz_write(path, out, 8 + n + at);
}

static void
restore(size_t of, size_t which)
{
    const char *path = folders_path(N_FOLDERS + of, files[which]);

    if (which == 0)
        fuzz_write(path, adapters[of].config, strlen(adapters[of].config));
    else
        weights(of, path);
}

static void
make_all(void)
{
    static bool made;

    if (made)
        return;
    made = true;
    folders_make();
    for (size_t of = 0; of < N_BASES; of++) {
        if (mkdir(folders_path(N_FOLDERS + of, NULL), 0777) != 0)
            abort();
        for (size_t which = 0; which < N_FILES; which++)
            restore(of, which);
    }
}

/* ---- an input -------------------------------------------------------------
 */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t which, of;
    char base[SCRATCH_PATH];
    struct gg_file *f = NULL;
    struct gg_error err = { "" };

    make_all();
    if (size < 1)
        return 0;
    which = data[0] % N_FILES;
    of = data[0] / N_FILES % N_BASES;
    strcpy(base, folders_path(bases[of], NULL));
    fuzz_write(folders_path(N_FOLDERS + of, files[which]), data + 1, size - 1);
    if (gg_file_open_adapter(folders_path(N_FOLDERS + of, NULL), base, &f,
                             &err) == GG_OK)
        folders_touch(f);
    else if (!err.message[0])
        abort();
    gg_file_close(f);
    restore(of, which);
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    size_t of = i / N_FILES, which = i % N_FILES;
    uint8_t *data;

    make_all();
    if (of >= N_BASES)
        return NULL;
    data = fuzz_file(folders_path(N_FOLDERS + of, files[which]), 1, size);
    data[0] = (uint8_t)i;
    return data;
}
