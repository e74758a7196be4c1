/** Where the time of frames went, from a trace of Chromium.
 *
 *  Two clocks: how far frames are apart is wall time, and shows whatever else the machine does; what the main thread worked
 *  in each is its own processor time, which stays the same on a busy machine. */
import { writeFileSync } from 'node:fs'
import type { CDPSession } from '@playwright/test'

/** One complete event; times in microseconds, `tdur` of the thread's own clock. */
export interface TraceEvent {
    name: string
    ph: string
    pid: number
    tid: number
    ts: number
    dur?: number
    tdur?: number
}

type Kind = 'script' | 'style' | 'layout' | 'paint' | 'garbage' | 'rest'

export interface Frame {
    /** Milliseconds until the next one. */
    interval: number
    /** Milliseconds the main thread worked in it, all together and by kind. */
    work: number
    of: Record<Kind, number>
}

export interface Frames {
    all: Frame[]
    /** Tasks that kept the main thread for more than 50 ms: by the clock on the wall, and by its own. */
    longTasks: { wall: number; own: number }
}

const KINDS: Record<string, Kind> = {
    FunctionCall: 'script',
    EvaluateScript: 'script',
    FireAnimationFrame: 'script',
    EventDispatch: 'script',
    RunMicrotasks: 'script',
    TimerFire: 'script',
    UpdateLayoutTree: 'style',
    Layout: 'layout',
    PrePaint: 'paint',
    Paint: 'paint',
    Layerize: 'paint',
    Commit: 'paint',
    MinorGC: 'garbage',
    MajorGC: 'garbage',
}

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline']

/** Record what happens meanwhile. With TRACE set, the trace is kept in that file, to be opened in the browser's tools. */
export async function traced(devtools: CDPSession, run: () => Promise<void>): Promise<TraceEvent[]> {
    await devtools.send('Tracing.start', {
        transferMode: 'ReturnAsStream',
        traceConfig: {
            recordMode: 'recordUntilFull',
            traceBufferSizeInKb: 600_000,
            includedCategories: CATEGORIES,
            excludedCategories: ['*'],
        },
    })
    await run()
    const ended = new Promise<string>((resolve) =>
        devtools.once('Tracing.tracingComplete', ({ stream }) => resolve(stream ?? '')),
    )
    await devtools.send('Tracing.end')
    const text = await readStream(devtools, await ended)
    if (process.env['TRACE']) writeFileSync(process.env['TRACE'], text)
    return (JSON.parse(text) as { traceEvents: TraceEvent[] }).traceEvents
}

async function readStream(devtools: CDPSession, handle: string): Promise<string> {
    const parts: string[] = []
    for (;;) {
        const { data, eof } = await devtools.send('IO.read', { handle, size: 8_000_000 })
        parts.push(data)
        if (eof) break
    }
    await devtools.send('IO.close', { handle })
    return parts.join('')
}

/** Frames begin where an animation frame is fired: there is one for each, as long as somebody asks for the next. */
export function framesOf(events: readonly TraceEvent[]): Frames {
    const complete = events.filter((event) => event.ph === 'X')
    const begins = complete.filter((event) => event.name === 'FireAnimationFrame')
    const thread = mostOf(begins)
    const own = complete.filter((event) => `${event.pid} ${event.tid}` === thread).sort(byTime)
    const starts = own.filter((event) => event.name === 'FireAnimationFrame').map((event) => event.ts)
    const all: Frame[] = starts.slice(1).map((end, at) => ({
        interval: (end - (starts[at] ?? end)) / 1000,
        work: 0,
        of: { script: 0, style: 0, layout: 0, paint: 0, garbage: 0, rest: 0 },
    }))
    share(own, starts, all)
    const tasks = own.filter((event) => event.name === 'RunTask')
    const longTasks = {
        wall: tasks.filter((task) => (task.dur ?? 0) > 50_000).length,
        own: tasks.filter((task) => timeOf(task) > 50_000).length,
    }
    return { all, longTasks }
}

const timeOf = (event: TraceEvent) => event.tdur ?? event.dur ?? 0
const byTime = (a: TraceEvent, b: TraceEvent) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0)

/** Each event's own time, without what is inside it, goes to the frame in which its task began. */
function share(own: readonly TraceEvent[], starts: readonly number[], all: Frame[]): void {
    const open: { end: number; kind: Kind; frame: Frame | undefined }[] = []
    let at = -1
    for (const event of own) {
        while (at + 1 < starts.length && event.ts >= (starts[at + 1] ?? Infinity)) at += 1
        while (open.length && event.ts >= (open.at(-1)?.end ?? 0)) open.pop()
        const outer = open.at(-1)
        if (!outer && event.name !== 'RunTask') continue
        const kind = KINDS[event.name] ?? outer?.kind ?? 'rest'
        const frame = outer ? outer.frame : all[at]
        const time = timeOf(event) / 1000
        if (frame) frame.of[kind] += time
        if (outer?.frame) outer.frame.of[outer.kind] -= time
        if (!outer && frame) frame.work += time
        open.push({ end: event.ts + (event.dur ?? 0), kind, frame })
    }
}

function mostOf(events: readonly TraceEvent[]): string {
    const counts = new Map<string, number>()
    for (const { pid, tid } of events) {
        const key = `${pid} ${tid}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''
}
