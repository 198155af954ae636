/* build.c - which build of the library this is */
#include <config.h>

#include "core/build.h"

#include <stdbool.h>
#include <string.h>

#include "core/hash.h"

#ifdef __linux__
#include <link.h>

/* A note, of which the name follows and then the bytes, both padded to 4. */
struct note {
    uint32_t n_name, n_bytes, type;
};

enum {
    BUILD_ID = 3,
};

static size_t
padded(uint32_t n)
{
    return ((size_t)n + 3) / 4 * 4;
}

static uint64_t
hash_notes(uint64_t h, const char *p, size_t size)
{
    struct note note;

    while (size >= sizeof(note)) {
        const char *name = p + sizeof(note);
        size_t n;

        memcpy(&note, p, sizeof(note));
        n = sizeof(note) + padded(note.n_name) + padded(note.n_bytes);
        if (n > size)
            break;
        if (note.type == BUILD_ID && note.n_name == 4 &&
            memcmp(name, "GNU", 4) == 0)
            h = hash_bytes(h, name + padded(note.n_name), note.n_bytes);
        p += n;
        size -= n;
    }
    return h;
}

static bool
is_in(const struct dl_phdr_info *object, const void *address)
{
    uintptr_t at = (uintptr_t)address - object->dlpi_addr;

    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];

        if (h->p_type == PT_LOAD && at - h->p_vaddr < h->p_memsz)
            return true;
    }
    return false;
}

/* Hashes the notes of the object that this function is in. */
static int
add_object(struct dl_phdr_info *object, size_t size, void *data)
{
    static const char here;
    uint64_t *h = data;

    (void)size;
    if (!is_in(object, &here))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];

        if (p->p_type == PT_NOTE)
            *h = hash_notes(*h, (const char *)object->dlpi_addr + p->p_vaddr,
                            p->p_memsz);
    }
    return 1;
}

static uint64_t
hash_build_id(uint64_t h)
{
    dl_iterate_phdr(add_object, &h);
    return h;
}
#else
static uint64_t
hash_build_id(uint64_t h)
{
    return h;
}
#endif

uint64_t
core_build_fingerprint(void)
{
    static const char build[] = PACKAGE_VERSION " " __VERSION__;
    const uint32_t words[] = { 1, sizeof(void *), sizeof(long) };
    uint64_t h = hash_bytes(HASH_START, build, sizeof(build));

    return hash_build_id(hash_bytes(h, words, sizeof(words)));
}
