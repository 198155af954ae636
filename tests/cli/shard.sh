# --shard I/N: a part is its lines of one whole run, of each tool that reads
# records, in each of its modes.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=$PWD/model.gguf
export GG_MODEL
unset SOURCE_DATE_EPOCH

# in_turn FILE...: line after line of each in turn, as many as there are.
in_turn() { paste -d '\n' "$@" | head -n "$(cat "$@" | wc -l)"; }
parts() { # COMMAND: its whole, and three parts of it, with the statuses of both
    sh -c "$1" >whole 2>said
    want=$?
    got=0
    for i in 1 2 3; do
        sh -c "$1 --shard $i/3" >"part.$i" 2>"said.$i"
        status=$?
        test $status = 0 || got=$status
    done
    echo "$1: $want $got, $(wc -l <part.1) $(wc -l <part.2) $(wc -l <part.3)"
    cat said.? | sort >all
    sort said | cmp - all
}
by_turns() { # COMMAND: a line for each record
    parts "$1"
    in_turn part.? | cmp - whole
}
by_numbers() { # COMMAND: lines that begin with their numbers
    parts "$1"
    sort -sn whole >sorted
    cat part.? | sort -sn | cmp - sorted
    for i in 1 2 3; do
        awk -F '\t' -v i="$i" '$1 % 3 == i % 3' whole | cmp - "part.$i"
    done
}

by_record() { # a stream as text, each line behind its sequence
    gg-logits --to text |
        awk '$1 == "end" || !NF { next }
            $1 == "record" || $1 == "failed" { s = $2 } s { print s "\t" $0 }'
}

echo "-- texts"
long=$(seq -s ' ' 1 90)
printf '%s\n' 'a b' b '' "$long" 'b a' ab aa ba >lines
tr '\n' '\0' <lines >nul
by_turns 'gg-generate --lines -s 1 -n 5 -c 60 lines'
by_turns 'gg-generate --lines -s 1 -n 5 -c 60 --batch 2 -t 2 --echo lines'
by_turns 'gg-generate --lines --choice a,b --scores -c 60 lines'
for i in 1 2 3; do
    gg-generate -0 -s 1 -n 5 -c 60 --shard $i/3 nul 2>/dev/null | tr '\0\n' '\n ' >part.$i
done
gg-generate -0 -s 1 -n 5 -c 60 nul 2>/dev/null | tr '\0\n' '\n ' >whole
in_turn part.? | cmp - whole
by_numbers 'gg-tokenize --lines lines'
by_numbers 'gg-tokenize --lines --max 20 -t 2 lines'
by_turns 'gg-tokenize --lines --count lines'
by_numbers 'gg-tokenize -0 nul'

echo "-- numbered records"
printf '9\ta\n4\tb\n7\t\n2\tc\nx\n3\tab\n8\tba\n' >numbered
parts 'gg-generate --lines --numbered -s 1 -n 5 numbered'
cat said
sort -sn whole >sorted
cat part.? | sort -sn | cmp - sorted
cut -f 1 part.1

echo "-- ids"
gg-tokenize -q --lines lines | sed '3d; s/^4\t.*/4\t99999/' >ids
by_numbers 'gg-eval --score ids'
for i in 1 2 3; do
    gg-eval --top 2 --shard $i/3 ids 2>/dev/null | sed '/^$/d' >part.$i
    gg-eval --shard $i/3 ids 2>/dev/null >logits.$i
    gg-eval --embed mean --shard $i/3 ids 2>/dev/null |
        by_record >embed.$i
    gg-sample -s 1 logits.$i >sampled.$i
    gg-loop --shard $i/3 'gg-eval | gg-sample -s 1 -n 4' <ids 2>/dev/null |
        gg-tokenize -d --lines >looped.$i 2>/dev/null
done
gg-eval --top 2 ids 2>/dev/null | sed '/^$/d' | sort -sn >whole
cat part.? | sort -sn | cmp - whole
gg-eval --embed mean ids 2>/dev/null | by_record | sort -sn >whole
test -s whole
cat embed.? | sort -sn | cmp - whole
gg-eval ids 2>/dev/null >logits
gg-sample -s 1 logits | sort -sn >whole
test -s whole
cat sampled.? | sort -sn | cmp - whole
by_numbers 'gg-sample -s 1 logits'
by_numbers 'gg-sample --greedy logits'
gg-loop 'gg-eval | gg-sample -s 1 -n 4' <ids 2>/dev/null >whole
gg-tokenize -d --lines <whole 2>/dev/null | sort >texts
sort looped.? | cmp - texts
for i in 1 2 3; do gg-tokenize -d --lines --shard $i/3 whole; done 2>/dev/null | sort |
    cmp - texts

echo "-- a part without records"
gg-generate --lines -s 1 --shard 9/9 lines
echo "[$?]"
gg-eval --shard 9/9 ids | gg-sample
echo "[$?]"
gg-eval --embed mean --shard 9/9 ids | gg-logits --to text | cut -c 1-15
echo "[$?]"
gg-eval --score --shard 9/9 ids
echo "[$?]"

echo "-- what is there is answered at once"
mkfifo to from
gg-eval --score --shard 1/2 <to >from &
exec 3>to 4<from
printf '1\t5 6\n2\t5 6\n' >&3
timeout 60 head -n 1 <&4 | cut -f 1-3
exec 3>&-
cat <&4
wait $!
echo "[$?]"

echo "-- what is refused"
for bad in '' 1 0/2 3/2 1/0 -1/2 1/2/3 1.0/2 ' 1/2' 1/99999999999999999999; do
    gg-generate --lines -s 1 --shard "$bad" lines
done
gg-generate --shard 1/2 -p a
gg-generate --lines --shard 1/2 lines
gg-sample --shard 1/2 logits
gg-tokenize --shard 1/2 lines
gg-eval --perplexity --shard 1/2 ids
echo '5 6' >plain
gg-eval --shard 1/2 plain
gg-eval --shard 1/1 --score plain
gg-eval plain | gg-sample -s 1 --shard 1/2
gg-loop --shard 1/2 'gg-eval 2>/dev/null | gg-sample 2>/dev/null' <plain
gg-tokenize -d --shard 1/2 plain
echo "[$?]"
