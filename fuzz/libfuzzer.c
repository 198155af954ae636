/* libfuzzer.c - in place of replay.c where libFuzzer drives the target */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int
LLVMFuzzerInitialize(int *argc, char ***argv);

/* With -w FOLDER the corpus is written; all else is libFuzzer's. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 3 && strcmp((*argv)[1], "-w") == 0)
        exit(fuzz_write_corpus((*argv)[2]));
    return 0;
}
