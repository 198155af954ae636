# sandbox_calls.awk - the table of sandbox_table.c from sandbox_calls.list
BEGIN {
    print "/* Made from sandbox_calls.list. */"
    print "#include <config.h>\n"
    print "#ifdef GG_SECCOMP\n"
    print "#include \"common/sandbox_table.h\"\n"
    print "#include <sys/syscall.h>\n"
    print "const struct sandbox_call sandbox_table[] = {"
}
/^[^#]/ {
    print "#ifdef __NR_" $1
    printf "    { \"%s\", __NR_%s, CALL_%s, CHECK_%s },\n", $1, $1, \
        toupper($2), toupper(NF > 2 ? $3 : "none")
    print "#endif"
}
END {
    print "};"
    print "const size_t sandbox_n_calls ="
    print "    sizeof(sandbox_table) / sizeof(sandbox_table[0]);\n"
    print "#endif"
}
