/* refused.c - architectures of the field's files that are known by name and not
 * run, and what is said of them
 *
 * A name that becomes a family leaves this table. */
#include <string.h>

#include "graph/arch.h"

enum reason {
    PROJECTOR,
    DRAFTER,
    DIFFUSION,
    SPEECH,
    OTHER,
    STRANGE, /* of a name that is not here */
};

static const struct {
    const char *name;
    enum reason reason;
} refused[] = {
    { "chameleon", OTHER },         { "clef", OTHER },
    { "clip", PROJECTOR },          { "cogvlm", OTHER },
    { "deepseek2-ocr", OTHER },     { "dream", DIFFUSION },
    { "hrm_text", OTHER },          { "llada", DIFFUSION },
    { "llada-moe", DIFFUSION },     { "minimax-01", OTHER },
    { "pockettts", SPEECH },        { "qwen3tts", SPEECH },
    { "rnd1", DIFFUSION },          { "talkie", OTHER },
    { "wavtokenizer-dec", SPEECH },
};

/* After the architecture's name. */
static const char *const sentences[] = {
    [PROJECTOR] = "is a projector (mmproj) of pictures or sound, no language "
                  "model: name the model that it belongs to",
    [DRAFTER] = "drafts for another model, and is no model itself: it is named "
                "next to the model that it drafts for",
    [DIFFUSION] = "writes by diffusion, all ids of a text at once: models here "
                  "write one id after the other",
    [SPEECH] = "makes speech: models here write text",
    [OTHER] = "is known by its name, but is not run here (gg(7) lists the "
              "families that are)",
    [STRANGE] = "is not a family that is known here (gg(7) lists those that "
                "are)",
};

/* A projector, which sees or hears for a language model, has a type, whatever
 * its architecture is called. */
static bool
is_projector(const struct gguf_context *gguf)
{
    struct gguf_str type = { "", 0 };

    return gguf_opt_str(gguf, "general.type", &type, NULL) == GG_OK &&
           type.n == 6 && !memcmp(type.s, "mmproj", 6);
}

static enum reason
reason_of(const struct gguf_context *gguf, const char *arch)
{
    if (is_projector(gguf))
        return PROJECTOR;
    if (graph_arch_find(arch))
        return DRAFTER;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (!strcmp(arch, refused[i].name))
            return refused[i].reason;
    return STRANGE;
}

enum gg_status
graph_arch_refuse(const struct gguf_context *gguf, const char *arch,
                  struct gg_error *err)
{
    gguf_bad_value(gguf, "general.architecture", err, "%s %s", arch,
                   sentences[reason_of(gguf, arch)]);
    return GG_ERR_UNSUPPORTED;
}

const char *
graph_arch_refused(size_t i)
{
    return i < sizeof(refused) / sizeof(refused[0]) ? refused[i].name : NULL;
}
