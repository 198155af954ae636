/* generate.c - a tiny model and options of gg-generate, for its records */
#include <config.h>

#include "generate.h"

#include <stdlib.h>

#include "fixtures/models.h"
#include "gg-generate/editor.h"
#include "harness/scratch.h"

/* Line editing (-i) is not tried. */
void
editor_allow(void)
{
}

void
fuzz_generate_init(struct generate *g, struct options *o)
{
    const struct model_spec spec = { "llama",      .n_layer = 1, .n_ctx = 64,
                                     .n_embd = 32, .n_ff = 32,   .seed = 1 };

    if (!models_write(&spec, scratch_path()))
        abort();
    o->engine = engine_options_default();
    o->engine.model = scratch_path();
    o->engine.devices.device = "cpu";
    o->engine.n_threads = 1;
    o->engine.quiet = true;
    o->sampling = sampling_options_default();
    *g = (struct generate){
        .o = o, .answer.tail = -1, .resumed = -1, .date = 1795780800
    };
}
