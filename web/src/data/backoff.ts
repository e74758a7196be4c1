/** When to try again after nobody answered, or the server said that it is busy.
 *
 *  Thousands of us lose the same server at the same moment, and must not come back at the same moment: so the wait is random, also
 *  the first one, and what the server asks for is a little longer for some than for others. */

const FIRST_MS = 1000
const LONGEST_MS = 10_000

/** Milliseconds. `failures` counts from one; `retryAfter` is what the server said, in seconds. */
export function waitBefore(failures: number, retryAfter?: number): number {
    if (retryAfter) return retryAfter * 1000 * (1 + Math.random() / 4)
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10))
    return longest * Math.random()
}
