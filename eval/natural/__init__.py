"""What a store believes after conversations in natural chat: telling, judging, counting."""
