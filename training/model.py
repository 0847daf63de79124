"""The encoder with heads, as it is trained: all-MiniLM-L6-v2 with the pinned weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer, BatchEncoding, PreTrainedTokenizerBase

from semantic_memory.vectors.embedders.compiled import weights

MAX_TOKENS = 96
_WIDTH = 384


def tokenizer() -> PreTrainedTokenizerBase:
    """Return the encoder's tokenizer."""
    return AutoTokenizer.from_pretrained(weights())


class SpansModel(torch.nn.Module):
    """One pass over [CLS] first [SEP] second [SEP].

    The heads read CLS and the means u, v of both spans as `cls, u, v, |u - v|, u * v`
    (Sentence-BERT, arXiv:1908.10084, with CLS of a cross-encoder). `heads` gives the number of
    classes of each; `forward` returns their logits, concatenated in that order, and those of
    the `marks` of each token.
    """

    def __init__(self, heads: Mapping[str, int], marks: int = 0) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            weights(), add_pooling_layer=False, attn_implementation="eager"
        )
        # They are a third of the time of a step, and training them brings nothing that shows.
        self.encoder.embeddings.word_embeddings.weight.requires_grad = False
        self.drop = torch.nn.Dropout(0.1)
        self.hidden = torch.nn.Linear(_WIDTH * 5, 256)
        self.out = torch.nn.Linear(256, sum(heads.values()))
        self.marks = torch.nn.Linear(_WIDTH, marks) if marks else None
        self.sizes = list(heads.values())

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return logits of shape (batch, classes of all heads), and (batch, tokens, marks)."""
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        second = (token_type_ids * attention_mask).unsqueeze(-1).to(states.dtype)
        first = ((1 - token_type_ids) * attention_mask).unsqueeze(-1).to(states.dtype)
        u = (states * first).sum(1) / first.sum(1).clamp(min=1)
        v = (states * second).sum(1) / second.sum(1).clamp(min=1)
        features = torch.cat([states[:, 0], u, v, (u - v).abs(), u * v], -1)
        logits: torch.Tensor = self.out(self.drop(torch.tanh(self.hidden(self.drop(features)))))
        return (logits,) if self.marks is None else (logits, self.marks(self.drop(states)))

    def groups(self) -> list[dict[str, Any]]:
        """Return the parameters in groups with their learning rates."""
        head = [*self.hidden.parameters(), *self.out.parameters()]
        head += [] if self.marks is None else [*self.marks.parameters()]
        body = [one for one in self.encoder.parameters() if one.requires_grad]
        return [{"params": body, "lr": 1e-4}, {"params": head, "lr": 1e-3}]


def encoded(
    reader: PreTrainedTokenizerBase, first: Sequence[str], second: Sequence[str]
) -> BatchEncoding:
    """Return the inputs of the model for pairs of texts, padded to the longest."""
    found: BatchEncoding = reader(
        list(first),
        list(second),
        truncation="longest_first",
        max_length=MAX_TOKENS,
        padding=True,
        return_tensors="pt",
    )
    return found
