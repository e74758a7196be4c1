/** Recording what is said, as a file like any other: the first form that this browser can write and most others can play. */

interface Form {
    type: string
    /** Of those that the server shows as a player. */
    ending: string
}
const FORMS: readonly Form[] = [
    { type: 'audio/mp4;codecs=mp4a.40.2', ending: 'm4a' },
    { type: 'audio/webm;codecs=opus', ending: 'weba' },
    { type: 'audio/ogg;codecs=opus', ending: 'ogg' },
    { type: 'audio/mp4', ending: 'm4a' },
]
/** Speech is understood well with these. */
const BITS_PER_SECOND = 32_000

export function formOf(isSupported: (type: string) => boolean): Form | null {
    return FORMS.find(({ type }) => isSupported(type)) ?? null
}

/** Whether this browser can record at all: it needs a page that came safely. */
export function mayRecord(): boolean {
    return (
        typeof MediaRecorder !== 'undefined' &&
        navigator.mediaDevices?.getUserMedia !== undefined &&
        formOf((type) => MediaRecorder.isTypeSupported(type)) !== null
    )
}

/** `voice-2026-11-17-19-15-00.weba`, by the clock on the wall. */
export function voiceName(now: Date, ending: string): string {
    const two = (number: number) => String(number).padStart(2, '0')
    const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())]
    const time = [two(now.getHours()), two(now.getMinutes()), two(now.getSeconds())]
    return `voice-${[...day, ...time].join('-')}.${ending}`
}

export interface Recording {
    /** What was said until now; the microphone is free then. */
    finish(): Promise<File>
    /** Throw it away; the microphone is free then. */
    drop(): void
}

/** Fails if there is no microphone, or it is refused. */
export async function beginRecording(): Promise<Recording> {
    const form = formOf((type) => MediaRecorder.isTypeSupported(type))
    if (!form) throw new DOMException('no form', 'NotSupportedError')
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    const release = () => stream.getTracks().forEach((track) => track.stop())
    try {
        return record(stream, form, release)
    } catch (problem) {
        release()
        throw problem
    }
}

function record(stream: MediaStream, form: Form, release: () => void): Recording {
    const recorder = new MediaRecorder(stream, { mimeType: form.type, audioBitsPerSecond: BITS_PER_SECOND })
    const parts: Blob[] = []
    recorder.addEventListener('dataavailable', (event) => parts.push(event.data))
    recorder.start()
    return {
        finish: () =>
            new Promise((resolve) => {
                const end = () => {
                    release()
                    const type = form.type.split(';')[0] ?? ''
                    resolve(new File(parts, voiceName(new Date(), form.ending), { type }))
                }
                // A microphone that was pulled out has ended it already.
                if (recorder.state === 'inactive') return end()
                recorder.addEventListener('stop', end)
                recorder.stop()
            }),
        drop: () => {
            if (recorder.state !== 'inactive') recorder.stop()
            release()
        },
    }
}
