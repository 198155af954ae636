/* types.c - the types that a value in a GGUF file may have */
#include "gguf/context.h"

static const struct {
    const char *name;
    size_t bytes;
} types[GGUF_TYPE_COUNT] = {
    [GGUF_TYPE_UINT8] = { "u8", 1 },    [GGUF_TYPE_INT8] = { "i8", 1 },
    [GGUF_TYPE_UINT16] = { "u16", 2 },  [GGUF_TYPE_INT16] = { "i16", 2 },
    [GGUF_TYPE_UINT32] = { "u32", 4 },  [GGUF_TYPE_INT32] = { "i32", 4 },
    [GGUF_TYPE_FLOAT32] = { "f32", 4 }, [GGUF_TYPE_BOOL] = { "bool", 1 },
    [GGUF_TYPE_STRING] = { "str", 0 },  [GGUF_TYPE_ARRAY] = { "arr", 0 },
    [GGUF_TYPE_UINT64] = { "u64", 8 },  [GGUF_TYPE_INT64] = { "i64", 8 },
    [GGUF_TYPE_FLOAT64] = { "f64", 8 },
};

const char *
gguf_type_name(enum gguf_type type)
{
    return (uint32_t)type < GGUF_TYPE_COUNT ? types[type].name : NULL;
}

size_t
gguf_type_bytes(enum gguf_type type)
{
    return (uint32_t)type < GGUF_TYPE_COUNT ? types[type].bytes : 0;
}

bool
gguf_type_is_value(uint32_t type)
{
    return type < GGUF_TYPE_COUNT && type != GGUF_TYPE_ARRAY;
}
