/* spare.c - memory that is kept for when there is none */
#include <config.h>

#include "common/spare.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/cli.h"

enum {
    SPARE = 1 << 23, /* bytes, which nobody writes: no page is taken */
    MORE = 1 << 20,
};

static _Atomic(void *) spare;
static atomic_bool keeps;

bool
spare_keep(void)
{
    keeps = true;
    if (!spare)
        spare = malloc(SPARE);
    return spare;
}

void
spare_drop(void)
{
    keeps = false;
    (void)spare_use();
}

bool
spare_is_kept(void)
{
    return keeps;
}

bool
spare_use(void)
{
    void *p = atomic_exchange(&spare, NULL);

    free(p);
    return p;
}

enum gg_status
spare_check(size_t n, size_t size, struct gg_error *err)
{
    size_t bytes;
    void *p = NULL;

    if (!keeps)
        return GG_OK;
    if (!__builtin_mul_overflow(n, size, &bytes) && bytes <= SIZE_MAX / 4)
        p = malloc(bytes + MORE);
    if (!p)
        return cli_error(err, GG_ERR_NOMEM, "out of memory");
    free(p);
    return GG_OK;
}
