"""Conversations: channels and their folders, topics, who has read what, mutes, invitations and signing up."""
