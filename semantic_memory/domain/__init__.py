"""The values, events, errors and pure rules that every room shares; imports no other room."""
