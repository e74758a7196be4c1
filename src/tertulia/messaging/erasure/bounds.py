"""What bounds erasures and holds."""

from tertulia.kernel.bounds import Otherwise

ALL = (
    Otherwise(tables=("erasure",), because="one for each person who was erased"),
    Otherwise(tables=("legal_hold",), because="one for each person, made by the operator or an owner"),
    Otherwise(
        tables=("held_copy",),
        because="one for what is deleted while it is held; goes when the hold ends; files among them count for the quota",
    ),
)
