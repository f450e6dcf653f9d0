"""What other tools of this kind met, as situations of ours."""
