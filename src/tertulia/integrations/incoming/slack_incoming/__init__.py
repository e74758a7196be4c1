"""Programs that were written to post to Slack."""
