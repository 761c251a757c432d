"""Brute force: every structure, one by one."""
