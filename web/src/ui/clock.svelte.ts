/** The time now, as state that moves every half minute: what says "3 min. ago" reads it and stays true. */
let seconds = $state(Math.floor(Date.now() / 1000))

setInterval(() => (seconds = Math.floor(Date.now() / 1000)), 30_000)

export const now = (): number => seconds
