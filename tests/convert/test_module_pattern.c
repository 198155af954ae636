/* test_module_pattern.c - names of modules by regular expressions, as Python's
 * re has them */
#include <string.h>

#include "convert/hf/module_pattern.h"
#include "harness/tap.h"

#define UP "model.layers.1.mlp.up_proj"

static const struct {
    const char *pattern, *name;
    enum module_match want;
} cases[] = {
    { "up_proj", UP, MODULE_MATCHES },
    { "p_proj", UP, MODULE_DIFFERS },
    { ".*p_proj", UP, MODULE_MATCHES },
    { "layers\\.(0|1)\\.mlp\\..*", UP, MODULE_MATCHES },
    { "layers\\.(0|2)\\.mlp\\..*", UP, MODULE_DIFFERS },
    { "^model\\.layers\\.\\d+\\.mlp\\.(?:up|down)_proj$", UP, MODULE_MATCHES },
    { "^layers.*", UP, MODULE_DIFFERS },
    { "layers\\.[0-3]\\.(?P<what>mlp|self_attn)\\.\\w+", UP, MODULE_MATCHES },
    { "layers\\.[^01]\\..*", UP, MODULE_DIFFERS },
    { "layers\\.\\d{2}\\..*", UP, MODULE_DIFFERS },
    { "layers\\.\\d{1,2}\\..*?", UP, MODULE_MATCHES },
    { "\\bmlp\\b.up\\x5fproj", UP, MODULE_MATCHES },
    { "(model|x|)", "a.", MODULE_MATCHES },
    { "((a*)*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", MODULE_DIFFERS },
    { "a|b", "ab", MODULE_DIFFERS },
    { "[]a]+", "]a]", MODULE_MATCHES },
    { "x{", "x{", MODULE_MATCHES },
    { "", "", MODULE_MATCHES },
    { "(", UP, MODULE_BAD },
    { ")", UP, MODULE_BAD },
    { "[a", UP, MODULE_BAD },
    { "[b-a]", UP, MODULE_BAD },
    { "*", UP, MODULE_BAD },
    { "a\\", UP, MODULE_BAD },
    { "(?=a)a", UP, MODULE_BAD },
    { "(?!a)b", UP, MODULE_BAD },
    { "(?i)MLP", UP, MODULE_BAD },
    { "(a)\\1", UP, MODULE_BAD },
    { "a*+", UP, MODULE_BAD },
    { "a{3,2}", UP, MODULE_BAD },
    { "a{99999999999999999999}", UP, MODULE_BAD },
    { "(((a{99}){99}){99}){99}", UP, MODULE_BAD },
    { "((((((((((((((((((((((((((((((((((((((a", UP, MODULE_BAD },
};

int
main(void)
{
    uint64_t budget = 1000000, few = 100;
    char text[4096];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is(convert_hf_module_match(cases[i].pattern, cases[i].name, &budget),
           cases[i].want, cases[i].pattern);
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    is(convert_hf_module_match(text, UP, &budget), MODULE_BAD, "a long one");
    is(convert_hf_module_match(".*", text, &few), MODULE_LONG, "a budget");
    return tap_done();
}
