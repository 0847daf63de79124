"""Context blocks: choosing memories, packing them into a token budget, rendering them safely."""
