/* dense.c - more families without experts: names of their tensors there and
 * here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/families.h"

const struct hf_family convert_hf_dense[] = {
    { 0 },
};

#endif
