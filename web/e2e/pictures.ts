/** The smallest picture that the server takes: eight by eight, of one colour. */
export const PICTURE = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPYEqCPFTEMLQkAHspMwdhob2wAAAAASUVORK5CYII=',
    'base64',
)
