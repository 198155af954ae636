/* make_model.c - writes a small model of random weights: make_model NAME FILE
 */
#include "models.h"

int
main(int argc, char **argv)
{
    struct model_spec spec;

    if (argc != 3 || !models_named(argv[1], &spec)) {
        fputs("usage: make_model {gpt2|llama}-{f32|f16|bf16|q8_0|q4_0} FILE\n",
              stderr);
        return 2;
    }
    return !models_write(&spec, argv[2]);
}
