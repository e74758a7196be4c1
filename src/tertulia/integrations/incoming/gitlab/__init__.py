"""What happens in projects at GitLab."""
