import { expect, it } from 'vitest'
import { framesOf, type TraceEvent } from './trace'

/** On one thread; times in milliseconds. The thread worked half of the time it took. */
const event = (name: string, ts: number, dur: number, changes: Partial<TraceEvent> = {}): TraceEvent => ({
    name,
    ph: 'X',
    pid: 1,
    tid: 1,
    ts: ts * 1000,
    dur: dur * 1000,
    tdur: dur * 500,
    ...changes,
})

it('shares the work of the main thread out among the frames and kinds', () => {
    const { all, longTasks } = framesOf([
        event('RunTask', 0, 1),
        event('RunTask', 10, 8),
        event('FireAnimationFrame', 10, 6),
        event('FunctionCall', 11, 4),
        event('Layout', 12, 2),
        event('SomethingUnknown', 12.5, 1),
        event('RunTask', 20, 60),
        event('MinorGC', 22, 2),
        event('FunctionCall', 200, 99, { tid: 2 }),
        event('RunTask', 90, 4),
        event('FireAnimationFrame', 90, 4),
    ])
    // What began before the first frame and in the last one, which has no end, belongs to none.
    expect(all).toEqual([
        {
            interval: 80,
            work: 34,
            of: { script: 2, style: 0, layout: 1, paint: 0, garbage: 1, rest: 30 },
        },
    ])
    expect(longTasks).toEqual({ wall: 1, own: 0 })
})

it('takes the time on the wall where the thread has no clock', () => {
    const bare = (name: string, ts: number, dur: number): TraceEvent => {
        const { tdur: _none, ...rest } = event(name, ts, dur)
        return rest
    }
    const events = [0, 16].flatMap((ts) => [bare('RunTask', ts, 4), bare('FireAnimationFrame', ts, 3)])
    expect(framesOf(events).all.map((frame) => [frame.interval, frame.work])).toEqual([[16, 4]])
})
