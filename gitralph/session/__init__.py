"""Who is at work: sessions started, chosen, ended, claims by hand, and what to say of silent hooks."""
