"""Builds a tiny random chat model: the shape of a Qwen model, 2 layers, a tokenizer of its own, a chat template.

    python tests/llm_real/tiny_model.py FOLDER

It answers any prompt with noise: what a weak model does to every role. Needs transformers, tokenizers and torch.
"""

from __future__ import annotations

import sys
from pathlib import Path

SENTENCES = (
    "您好，请问您哪里不舒服，这种情况有多长时间了？",
    "医生，我肚子疼了三天，昨天晚上开始发热，吃不下东西。",
    "疼痛在右下腹，一阵一阵的，活动以后会加重，躺下能好一些。",
    "以前得过高血压和糖尿病，一直在吃药，没有做过手术，对青霉素过敏。",
    "有没有恶心、呕吐、腹泻、便血？小便颜色怎么样？",
    "没有咳嗽，没有胸闷，大小便正常，睡眠不太好。",
    "考虑急性阑尾炎，建议查血常规和腹部彩超，必要时手术治疗。",
    "根据问诊记录，写出最可能的诊断，只输出一个 JSON 对象，不要解释。",
    '{"text": "三天前开始的。", "fact_ids": ["f01"], "status": "stated", "unknown": []}',
    '{"diagnoses": ["急性阑尾炎", "急性胃肠炎"], "reason": "右下腹痛伴发热"}',
    '{"matches": [{"prediction": "p0", "reference": "d1", "level": "full"}], "items": [], "questions": []}',
    "You are a doctor. Ask one question at a time, then write the diagnosis.",
)

TEMPLATE = """\
{%- if tools %}{{ '<|im_start|>system\n' }}{% for tool in tools %}{{ tool | tojson }}{{ '\n' }}{% endfor %}\
{{ '<|im_end|>\n' }}{% endif %}
{%- for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}\
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"""

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def build(folder: Path, *, context: int = 8192, seed: int = 0) -> Path:
    """Write the model's files into a folder, and return it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(vocab_size=900, special_tokens=list(SPECIAL), initial_alphabet=alphabet)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=TEMPLATE
    )
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=context, tie_word_embeddings=True,
            bos_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
