"""Decides what one commit takes of each pending path.

It reads everything once and writes nothing but blobs.
"""
