/** Files dropped anywhere on a conversation go into what is being written there. */

export interface Drops {
    may: () => boolean
    over: (isOver: boolean) => void
    take: (files: File[]) => void
}

export function takeDrops(area: HTMLElement | null, drops: Drops): () => void {
    const ended = new AbortController()
    const { signal } = ended
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    area?.addEventListener(
        'dragover',
        (event) => {
            if (!carriesFiles(event) || !drops.may()) return
            event.preventDefault()
            drops.over(true)
        },
        { signal },
    )
    area?.addEventListener(
        'dragleave',
        (event) => {
            if (!area.contains(event.relatedTarget as Node | null)) drops.over(false)
        },
        { signal },
    )
    area?.addEventListener(
        'drop',
        (event) => {
            drops.over(false)
            const files = [...(event.dataTransfer?.files ?? [])]
            if (!files.length || !drops.may()) return
            event.preventDefault()
            drops.take(files)
        },
        { signal },
    )
    return () => ended.abort()
}
