/** Polls and to-do lists as their submessages add up (pure). What is malformed, or not its sender's to say, is passed over. */
import type { ApiSubmessage } from '../data/api-types'

export interface PollOption {
    key: string
    text: string
    voters: number[]
}

export interface Poll {
    kind: 'poll'
    question: string
    options: PollOption[]
    /** The number of the next option that one adds oneself. */
    nextIndex: (userId: number) => number
}

export interface Task {
    key: string
    text: string
    note: string
    done: boolean
}

export interface Todo {
    kind: 'todo'
    title: string
    tasks: Task[]
    nextKey: (userId: number) => number
}

interface Data {
    [name: string]: unknown
    type?: string
}

export function widgetOf(submessages: readonly ApiSubmessage[], authorId: number): Poll | Todo | null {
    const sorted = [...submessages].sort((a, b) => a.id - b.id)
    const [first, ...rest] = sorted
    const start = read(first?.content)
    const extra = (start['extra_data'] ?? {}) as Record<string, unknown>
    if (start['widget_type'] === 'poll') return pollOf(extra, rest, authorId)
    if (start['widget_type'] === 'todo') return todoOf(extra, rest, authorId)
    return null
}

function pollOf(extra: Record<string, unknown>, rest: ApiSubmessage[], authorId: number): Poll {
    let question = text(extra['question'])
    const options = new Map<string, { text: string; voters: Set<number> }>()
    for (const [index, option] of list(extra['options']).entries()) {
        options.set(`canned,${index}`, { text: text(option), voters: new Set() })
    }
    for (const { content, sender_id } of rest) {
        const data = read(content)
        if (data.type === 'new_option') {
            const key = `${sender_id},${Number(data['idx'])}`
            const same = [...options.values()].some((each) => each.text === data['option'])
            if (!same && !options.has(key)) options.set(key, { text: text(data['option']), voters: new Set() })
        } else if (data.type === 'vote') {
            const voters = options.get(text(data['key']))?.voters
            if (data['vote'] === 1) voters?.add(sender_id)
            else voters?.delete(sender_id)
        } else if (data.type === 'question' && sender_id === authorId) question = text(data['question'])
    }
    const all = [...options].map(([key, { text, voters }]) => ({ key, text, voters: [...voters] }))
    return { kind: 'poll', question, options: all, nextIndex: (id) => nextOf(options.keys(), id) }
}

function todoOf(extra: Record<string, unknown>, rest: ApiSubmessage[], authorId: number): Todo {
    let title = text(extra['task_list_title'])
    const tasks = new Map<string, Task>()
    for (const [index, task] of (list(extra['tasks']) as Data[]).entries()) {
        const key = `${index},canned`
        tasks.set(key, { key, text: text(task['task']), note: text(task['desc']), done: false })
    }
    for (const { content, sender_id } of rest) {
        const data = read(content)
        if (data.type === 'new_task') {
            const key = `${Number(data['key'])},${sender_id}`
            const same = [...tasks.values()].some((task) => task.text === data['task'])
            const task = { key, text: text(data['task']), note: text(data['desc']), done: data['completed'] === true }
            if (!same && !tasks.has(key)) tasks.set(key, task)
        } else if (data.type === 'strike') {
            const task = tasks.get(text(data['key']))
            if (task) tasks.set(task.key, { ...task, done: !task.done })
        } else if (data.type === 'new_task_list_title' && sender_id === authorId) title = text(data['title'])
    }
    const keys = [...tasks.keys()].map((key) => key.split(',').toReversed().join(','))
    return { kind: 'todo', title, tasks: [...tasks.values()], nextKey: (id) => nextOf(keys, id) }
}

function nextOf(keys: Iterable<string>, userId: number): number {
    let next = 1
    for (const key of keys) {
        const [owner, index] = key.split(',')
        if (owner === String(userId)) next = Math.max(next, Number(index) + 1)
    }
    return next
}

function read(content: string | undefined): Data {
    try {
        const value: unknown = JSON.parse(content ?? '')
        return typeof value === 'object' && value !== null ? (value as Data) : {}
    } catch {
        return {}
    }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
