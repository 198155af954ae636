/* test_projector_refusals.c - folders of models that see or hear, a word of
 * which is another: what a projector file cannot say is refused by name, and
 * what a configuration leaves out is as the library has it
 *
 * Folders are those of tests/fixtures/projector_cases. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "fixtures/folder_case.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static struct gg_error err;
static const char *cases;

/* A word of a case, and what stands in place of it. */
struct change {
    const char *name, *from, *to;
    const char *says; /* the message */
};

static const struct change refused[] = {
    { "qwen3vl", "tensor model.visual.merger.norm.bias",
      "tensor model.visual.odd.weight 0 1 4 4\n"
      "tensor model.visual.merger.norm.bias",
      "model.visual.odd.weight: the projector" },
    { "qwen3vl", "model.visual.merger.norm.weight", "model.more.weight",
      "model.visual.merger.norm.weight: is missing" },
    { "qwen3vl", "32 3 2 8 8", "32 3 16 8",
      "model.visual.patch_embed.proj.weight" },
    { "qwen3vl", "32 3 2 8 8", "32 3 1 16 8", "two frames" },
    { "qwen3vl", "\"image_mean\":[0.4,", "\"image_mean\":[", "image_mean" },
    { "qwen3vl", "preprocessor_config.json", "other.json", "there is neither" },
    { "qwen3vl", "\"hidden_act\":\"gelu_pytorch_tanh\"",
      "\"hidden_act\":\"relu\"", "relu" },
    { "qwen3vl", "\"deepstack_visual_indexes\":[0,2]",
      "\"deepstack_visual_indexes\":[0,3]", "deepstack_visual_indexes" },
    { "qwen3vl", "[\"Qwen3VLForCond", "[\"Qwen9VLForCond", "Qwen9VL" },
    { "qwen3vl", "\"longest_edge\"", "\"longest\"", "longest_edge" },
    { "qwen3vl", "\"temporal_patch_size\":2", "\"temporal_patch_size\":1",
      "temporal_patch_size" },
    { "qwen2_5vl", "\"window_size\":112", "\"window_size\":56", "window_size" },
    { "qwen2_5vl", "indexes\":[1,3]", "indexes\":[1,2]",
      "fullatt_block_indexes" },
    { "qwen2_5vl", "qkv.bias 0 0.25 96", "qkv.bias 0 0.25 97",
      "queries, keys and" },
    { "gemma4", "\"rope_theta\":100.0", "\"rope_theta\":10.0", "rope_theta" },
    { "gemma4", "input_proj.weight 0 1 32 192", "input_proj.weight 0 1 32 191",
      "squares of pixels" },
    { "gemma4", "\"do_normalize\":false", "\"do_normalize\":true",
      "do_normalize" },
    { "idefics3", "\"max_image_size\":{\"longest_edge\":32}",
      "\"max_image_size\":{\"longest_edge\":64}", "max_image_size" },
    { "idefics3", "\"do_image_splitting\":true", "\"do_image_splitting\":false",
      "do_image_splitting" },
    { "idefics3", "\"scale_factor\":4", "\"scale_factor\":17", "scale_factor" },
    { "idefics3", "\"size\":{\"longest_edge\":96}",
      "\"size\":{\"longest_edge\":0}", "longest_edge" },
    { "idefics3", "gelu_pytorch_tanh", "relu", "relu" },
    { "idefics3", "\"image_size\":32", "\"image_size\":[32,48]", "image_size" },
    { "idefics3", "\"patch_size\":4", "\"patch_size\":257", "patch_size" },
    { "idefics3", "\"num_hidden_layers\":2,\"patch", "\"patch",
      "layers.2.layer_norm1.weight" }, /* there are 12 */
    { "idefics3", "model.connector.modality_projection.proj",
      "model.connector.other", "modality_projection" },
    { "idefics3", "row 0",
      "tensor model.vision_model.other.weight 0 1 4\nrow 0",
      "model.vision_model.other.weight" },
    { "lfm2vl", "\"tile_size\":512", "\"tile_size\":256", "tile_size" },
    { "lfm2vl", "\"max_tiles\":10", "\"max_tiles\":12", "max_tiles" },
    { "lfm2vl", "\"use_thumbnail\":true", "\"use_thumbnail\":false",
      "use_thumbnail" },
    { "lfm2vl", "\"max_image_tokens\":256", "\"max_image_tokens\":99999999",
      "max_image_tokens" },
    { "lfm2vl", "\"projector_bias\":true", "\"projector_bias\":false",
      "projector_bias" },
    { "lfm2vl", "weight 0 1 32 48", "weight 0 1 32 47", "squares of pixels" },
    { "internvl", "\"downsample_ratio\":0.5", "\"downsample_ratio\":0.3",
      "downsample_ratio" },
    { "internvl", "\"norm_type\":\"layer_norm\"", "\"norm_type\":\"rms_norm\"",
      "norm_type" },
    { "internvl", "\"use_qk_norm\":false", "\"use_qk_norm\":true",
      "use_qk_norm" },
    { "internvl", "\"vision_feature_layer\":-1", "\"vision_feature_layer\":-4",
      "vision_feature_layer" },
    { "internvl", "\"max_patches\":12", "\"max_patches\":65", "max_patches" },
    { "internvl", "\"patch_size\":[4,4]", "\"patch_size\":[4,2]",
      "patch_size" },
    { "internvl-chat", "\"ps_version\":\"v2\"", "\"ps_version\":\"v1\"",
      "ps_version" },
    { "internvl-chat", "\"qk_normalization\":false",
      "\"qk_normalization\":true", "qk_normalization" },
    { "mistral3", "\"rope_theta\":10000.0,\"rope_type\":\"axial\"",
      "\"rope_theta\":100.0,\"rope_type\":\"axial\"", "rope_theta" },
    { "mistral3", "\"rms_norm_eps\":1e-05", "\"rms_norm_eps\":1e-06",
      "rms_norm_eps" },
    { "mistral3", "\"hidden_act\":\"silu\",\"hidden_size\":32",
      "\"hidden_act\":\"gelu\",\"hidden_size\":32", "gelu" },
    { "mistral3", "\"head_dim\":16,\"hidden_act\":\"silu\",\"hidden_size\":32",
      "\"head_dim\":8,\"hidden_act\":\"silu\",\"hidden_size\":32", "head_dim" },
    { "mistral3", "[IMG_BREAK]", "[BREAK]", "[IMG_BREAK]" },
    { "mistral3", "\"id\":7", "\"id\":300", "[IMG_BREAK]" },
    { "mistral3", "\"id\":7", "\"id\":-1", "[IMG_BREAK]" },
    { "pixtral", "\"vision_feature_select_strategy\":\"full\"",
      "\"vision_feature_select_strategy\":\"default\"",
      "vision_feature_select_strategy" },
    { "pixtral", "\"model_type\":\"pixtral\"", "\"model_type\":\"siglip\"",
      "LlavaForConditionalGeneration" },
    { "llava", "\"vision_feature_layer\":-2", "\"vision_feature_layer\":-1",
      "vision_feature_layer" },
    { "voxtral", "\"intermediate_size\":64,\"layerdrop\"",
      "\"intermediate_size\":65,\"layerdrop\"", "intermediate_size" },
    { "voxtral", "\"hop_length\":160", "\"hop_length\":80", "hop_length" },
    { "voxtral", "\"scale_embedding\":false", "\"scale_embedding\":true",
      "scale_embedding" },
    { "voxtral", "linear_2.weight", "linear_3.weight", "linear_2.weight" },
    { "ultravox", "\"projector_ln_mid\":true", "\"projector_ln_mid\":false",
      "projector_ln_mid" },
    { "ultravox", "\"swiglu\"", "\"gelu\"", "projector_act" },
    { "ultravox", "\"stack_factor\":8", "\"stack_factor\":65", "stack_factor" },
};

/* ---- cases --------------------------------------------------------------- */

static char *
read_case(const char *name)
{
    static char text[1 << 16];
    char path[1024];
    FILE *in;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s.case", cases, name);
    in = fopen(path, "r");
    n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
    text[n] = '\0';
    if (in)
        fclose(in);
    return text;
}

/* A folder that is changed; NULL: the case has no such word. */
static const char *
folder_of(const struct change *c)
{
    const char *text = read_case(c->name), *at = strstr(text, c->from);
    const char *path = scratch_file("changed.case");
    static int n;
    struct folder_case made;
    const char *folder;
    char own[32];
    FILE *out = at ? fopen(path, "w") : NULL;

    if (!out)
        return NULL;
    fprintf(out, "%.*s%s%s", (int)(at - text), text, c->to,
            at + strlen(c->from));
    fclose(out);
    snprintf(own, sizeof(own), "changed-%d", n++);
    folder = scratch_file(own);
    folder_case_write(path, scratch_file("none.gguf"), folder, &made);
    return folder;
}

static enum gg_status
open_changed(const struct change *c, struct gguf_file *file)
{
    const char *folder = folder_of(c);

    snprintf(err.message, sizeof(err.message), "no %s in the case", c->from);
    return folder
               ? convert_open_folder(folder, GGUF_OPEN_ALL | CONVERT_PROJECTOR,
                                     file, NULL, &err)
               : GG_ERR_IO;
}

/* ---- tests --------------------------------------------------------------- */

static void
test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct change *c = &refused[i];
        struct gguf_file file;
        enum gg_status st = open_changed(c, &file);
        char title[256];

        snprintf(title, sizeof(title), "%s: %s", c->name, c->to);
        title[strcspn(title, "\n")] = '\0';
        ok(st != GG_OK && strstr(err.message, c->says), title);
        printf("# %s\n", st == GG_OK ? "taken" : err.message);
        if (st == GG_OK)
            gguf_file_close(&file);
    }
}

/* The key has the number where the configuration leaves a setting out. */
static void
check_number(const char *name, const char *from, const char *to,
             const char *key, uint32_t want)
{
    struct change c = { name, from, to, NULL };
    struct gguf_file file;
    int64_t id;
    bool good = false;

    if (open_changed(&c, &file) == GG_OK) {
        id = gguf_find_key(file.gguf, key);
        good = id >= 0 && gguf_get_val_u32(file.gguf, id) == want;
        gguf_file_close(&file);
    } else {
        printf("# %s\n", err.message);
    }
    ok(good, key);
}

static void
test_left_out(void)
{
    check_number("idefics3", "\"hidden_size\":32,", "",
                 "clip.vision.embedding_length", 1152);
    check_number("idefics3", "\"intermediate_size\":48,\"layer", "\"layer",
                 "clip.vision.feed_forward_length", 3072);
    check_number("idefics3", "\"scale_factor\":4,", "",
                 "clip.vision.projector.scale_factor", 2);
    check_number("pixtral", "\"intermediate_size\":48,", "",
                 "clip.vision.feed_forward_length", 4096);
    check_number("pixtral", "\"longest_edge\":1024", "\"longest_edge\":512",
                 "clip.vision.image_size", 512);
    check_number("internvl", "\"max_patches\":12", "\"max_patches\":6",
                 "clip.vision.preproc_max_tiles", 6);
    check_number("lfm2vl", "\"max_image_tokens\":256",
                 "\"max_image_tokens\":100", "clip.vision.image_max_pixels",
                 6400);
    /* the width is the matrix's, whatever the configuration says */
    check_number("voxtral", "\"text_config\"", "\"text\"",
                 "clip.audio.projection_dim", 64);
}

int
main(void)
{
    const char *source = getenv("top_srcdir");
    static char folder[1024];

#ifndef HAVE_JANSSON
    puts("1..0 # SKIP built without Jansson");
    return 0;
#endif
    snprintf(folder, sizeof(folder), "%s/tests/fixtures/projector_cases",
             source ? source : "..");
    cases = folder;
    test_refused();
    test_left_out();
    return tap_done();
}
