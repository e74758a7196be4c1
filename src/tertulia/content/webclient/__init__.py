"""The web client as it is served: files that `npm run build` in `web/` puts into the folder `built` of this package.

Invariants:
- The page runs no script and no style but its own files (see `policy`), whatever a message holds.
- Files under /assets/ carry a digest in their name and never change; everything else is asked for again each time.
- Without a build there is a page that says how to make one; the API works all the same.
"""
