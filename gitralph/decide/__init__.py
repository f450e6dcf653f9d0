"""Decides what one commit takes of each pending path.

A decision is made on one `inputs.Scene` and writes nothing but blobs. Around it `offers.catch_up` records
what a running command did, and `own_commit` and `pending_paths` keep notes of their own.
"""
