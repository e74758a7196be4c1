"""Conversations: channels and their folders, topics, who has read what, mutes, invitations, signing up and beginnings."""
