/* unchecked_alloc.c - a module whose constructor does not check allocations, as
 * NVIDIA's run-time; it has no device */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-backend.h>

#include "cuda/reserve.h"

enum {
    N = 200,
};

static char *pieces[N];
static const char *why = "a device is missing";

/* By all that allocates, and all of it is written to. */
static char *
piece(int i)
{
    char *p = malloc(8);

    if (i % 4 == 1)
        return calloc(3, 50);
    if (i % 4 == 2)
        return strdup("1234567* written to");
    strcpy(p, "1234567");
    if (i % 4 == 3)
        p = realloc(p, 4000);
    return p;
}

__attribute__((constructor)) static void
begin(void)
{
    char *p = malloc(8);

    free(p);
    for (int i = 0; i < N; i++) {
        pieces[i] = piece(i);
        pieces[i][7] = (char)i;
    }
    for (int i = 0; i < N; i += 3) {
        free(pieces[i]);
        pieces[i] = NULL;
    }
}

/* Finds what was lost or overwritten. */
static const char *
check(void)
{
    for (int i = 0; i < N; i++) {
        const char *p = pieces[i];

        if (p && p[7] != (char)i)
            return "a byte was changed";
        if (p && i % 4 == 1 && (p[0] || p[149]))
            return "calloc() gave what is not zero";
        if (p && i % 4 == 2 && strcmp(p + 8, " written to") != 0)
            return "strdup() lost a byte";
        if (p && i % 4 != 1 && memcmp(p, "1234567", 7))
            return "a byte was lost";
    }
    return NULL;
}

GGML_API const char *
ggml_backend_why_none(void);
GGML_API ggml_backend_reg_t
ggml_backend_init(void);

const char *
ggml_backend_why_none(void)
{
    return why;
}

ggml_backend_reg_t
ggml_backend_init(void)
{
    bool lacking = cuda_reserve_end();
    const char *wrong = check();

    if (wrong)
        why = wrong;
    else if (lacking)
        why = "out of memory";
    for (int i = 0; i < N; i++)
        free(pieces[i]);
    return NULL;
}
