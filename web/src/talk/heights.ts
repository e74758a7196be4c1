/** Where each of many rows of different height begins (pure): measured where they were shown, estimated elsewhere.
 *
 *  Offsets are prefix sums in one array, recomputed from the first row that changed: for 100,000 rows a pass over a
 *  Float64Array is well under a millisecond, and finding the row at a height is a binary search. */

/** So many heights of rows that are gone may be known. */
const SPARE = 1000

export class Heights {
    #keys: readonly string[] = []
    readonly #measured = new Map<string, number>()
    #estimates: (index: number) => number = () => 0
    #offsets = new Float64Array(1)
    #indexOf: Map<string, number> | null = null
    #clean = 0

    setRows(keys: readonly string[], estimate: (index: number) => number): void {
        let same = 0
        while (same < keys.length && same < this.#keys.length && keys[same] === this.#keys[same]) same++
        this.#keys = keys
        this.#estimates = estimate
        this.#indexOf = null
        if (this.#offsets.length < keys.length + 1) {
            const grown = new Float64Array(Math.ceil((keys.length + 1) * 1.5))
            grown.set(this.#offsets.subarray(0, this.#clean + 1))
            this.#offsets = grown
        }
        this.#clean = Math.min(this.#clean, same)
        if (this.#measured.size > 2 * keys.length + SPARE) this.#forget()
    }

    /** Rows that went do not come back soon, and if they do, they are measured again. */
    #forget(): void {
        const old = new Map(this.#measured)
        this.#measured.clear()
        for (const key of this.#keys) {
            const height = old.get(key)
            if (height !== undefined) this.#measured.set(key, height)
        }
    }

    /** Whether this changed anything. */
    measure(key: string, height: number): boolean {
        const old = this.#measured.get(key)
        if (old !== undefined && Math.abs(old - height) < 0.5) return false
        this.#measured.set(key, height)
        const index = this.indexOf(key)
        if (index !== undefined) this.#clean = Math.min(this.#clean, index)
        return index !== undefined
    }

    isMeasured(key: string): boolean {
        return this.#measured.has(key)
    }

    offsetOf(index: number): number {
        this.#sum()
        return this.#offsets[Math.max(0, Math.min(index, this.#keys.length))] ?? 0
    }

    get total(): number {
        return this.offsetOf(this.#keys.length)
    }

    get length(): number {
        return this.#keys.length
    }

    indexOf(key: string): number | undefined {
        this.#indexOf ??= new Map(this.#keys.map((each, index) => [each, index]))
        return this.#indexOf.get(key)
    }

    keyAt(index: number): string | undefined {
        return this.#keys[index]
    }

    /** The row that covers this height: the last that begins at or before it. */
    indexAt(height: number): number {
        this.#sum()
        let low = 0
        let high = this.#keys.length - 1
        while (low < high) {
            const middle = (low + high + 1) >> 1
            if ((this.#offsets[middle] ?? 0) <= height) low = middle
            else high = middle - 1
        }
        return low
    }

    #sum(): void {
        for (let index = this.#clean; index < this.#keys.length; index++) {
            const key = this.#keys[index] as string
            const height = this.#measured.get(key) ?? this.#estimates(index)
            this.#offsets[index + 1] = (this.#offsets[index] ?? 0) + height
        }
        this.#clean = this.#keys.length
    }
}
