# gg-train --jsonl: what the assistant says is learnt, and nothing else.
"$top_builddir/tests/make_model" llama-f32 m.gguf || exit 99
GG_MODEL=m.gguf
export GG_MODEL
cat >chats <<'END'
{"messages":[{"role":"user","content":"aa"},{"role":"assistant","content":"bcd"}]}

{"messages":[{"role":"user","content":"aaa"},{"role":"assistant","content":"b"},{"role":"user","content":"ccccccccc"},{"role":"assistant","content":"dd"}]}
END
cat >plain <<'END'
{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}{% if add_generation_prompt %}a:{% endif %}
END
targets() {
    gg-train --dry-run --jsonl --template ./plain "$@" | grep targets
}
targets chats
targets <chats
# What was said before is not learnt, however long it is.
sed 's/ccccccccc/ccccccccccccccccccccc/' chats | targets
sed 's/"dd"/"ddddddd"/' chats | targets
echo '{"messages":[{"role":"user","content":"a"}]}' >silent
targets silent
echo '{"messages":' >bad
targets bad
echo '[]' >empty
targets empty
gg-train --dry-run --jsonl chats
gg-train --dry-run --jsonl --template chatml chats
# A template that leaves an answer out once there is more is refused.
cat >forgets <<'END'
{% for m in messages %}{% if loop.last or m.role == 'user' %}{{ m.role[0] }}:{{ m.content }};{% endif %}{% endfor %}{% if add_generation_prompt %}a:{% endif %}
END
gg-train --dry-run --jsonl --template ./forgets chats | grep targets
# A prompt may open a thought that the conversation has not, or close it.
cat >thinks <<'END'
{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}{% if add_generation_prompt %}a:<t>{% endif %}
END
gg-train --dry-run --jsonl --template ./thinks chats | grep targets
cat >closes <<'END'
{% for m in messages %}{{ m.role[0] }}:{% if m.role == 'assistant' %}</t>{% endif %}{{ m.content }};{% endfor %}{% if add_generation_prompt %}a:<t>{% endif %}
END
gg-train --dry-run --jsonl --template ./closes chats | grep targets
# How many conversations have nothing to learn, and which is the first.
cat chats silent chats silent >some
targets -q some
targets some
targets --held-out silent chats
printf '1\t5\n2\t5 6\n3\t\n' | gg-train --dry-run | grep targets
# What was before must stay.
cat >counts <<'END'
{{ messages | length }} {% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}{% if add_generation_prompt %}a:{% endif %}
END
gg-train --dry-run --jsonl --template ./counts chats
gg-train -q --jsonl --template ./plain --steps 2 -r 2 -o adapter.gguf chats
gg-inspect -k adapter.type adapter.gguf
