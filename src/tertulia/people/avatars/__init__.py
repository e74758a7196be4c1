"""Avatars that people upload, in place of the ones we draw (people/users/avatars.py).

Invariants: what is stored is a square PNG in two sizes that we have encoded ourselves; its name cannot be guessed and is never
used again, so its address can be cached for ever and is good only as long as it is somebody's avatar; the number of a user's
avatar grows with every change, and whoever knows the user is told. Who asks for `/avatar/{user_id}` without saying who they are
gets the drawn one, whether or not there is such a user.
"""

from tertulia.people.avatars.actions import avatar_if_any, set_avatar

__all__ = ["avatar_if_any", "set_avatar"]
