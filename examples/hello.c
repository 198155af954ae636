/* hello.c - goes on from a text: hello MODEL TEXT */
#include <gg-engine.h>
#include <stdio.h>
#include <string.h>

static bool
put(void *file, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, file) == n;
}

int
main(int argc, char **argv)
{
    struct gg_generate_params params = { .max_ids = 40 };
    struct gg_model *model = NULL;
    struct gg_error err;

    if (argc != 3 || gg_model_open(argv[1], NULL, &model, &err) != GG_OK ||
        gg_generate(model, argv[2], strlen(argv[2]), &params, put, stdout,
                    &err) != GG_OK)
        return fprintf(stderr, "%s\n", argc == 3 ? err.message : "usage"), 1;
    gg_model_free(model);
    return 0;
}
