"""The groups of a memory's methods: `memory.sessions`, `memory.history` and their like.

Each method is bound to a request type, which defines and documents its arguments, and to the use
case that carries it out. The memory itself has the verbs that every agent needs.
"""
