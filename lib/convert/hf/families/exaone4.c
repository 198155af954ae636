/* exaone4.c - folders of EXAONE 4 */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_exaone4[] = {
    { "Exaone4ForCausalLM", "exaone4",
      .layer = { convert_hf_attention, convert_hf_head_norms,
                 convert_hf_post_norms, convert_hf_mlp },
      .keys = convert_hf_keys_window, .full_every = 4, .full_at = 3 },
    { 0 },
};
