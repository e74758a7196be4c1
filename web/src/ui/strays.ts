/** A file dropped where nothing takes it would open in the tab, in place of the whole application: it is refused instead. */
export function refuseStrayFiles(target: Window): () => void {
    const refuse = (event: DragEvent) => {
        const isTaken =
            event.defaultPrevented || (event.target instanceof HTMLInputElement && event.target.type === 'file')
        if (isTaken || !event.dataTransfer?.types.includes('Files')) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'none'
    }
    target.addEventListener('dragover', refuse)
    target.addEventListener('drop', refuse)
    return () => {
        target.removeEventListener('dragover', refuse)
        target.removeEventListener('drop', refuse)
    }
}
