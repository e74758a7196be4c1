/** The channel folders in the order the organization gave them (pure). */
import type { ApiFolder } from '../../data/api-types'

export function foldersOf(all: Iterable<ApiFolder>): ApiFolder[] {
    return [...all].sort((a, b) => a.order - b.order || a.name.localeCompare(b.name))
}
