"""An organization as one file: the form of archives, exports, and who agrees to theirs. Above all areas whose data they hold."""
