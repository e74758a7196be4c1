import { describe, expect, it } from 'vitest'
import { type Poll, type Todo, widgetOf } from './widgets'

let id = 0
const sub = (content: object, sender_id = 1) => ({
    id: ++id,
    message_id: 5,
    sender_id,
    msg_type: 'widget',
    content: JSON.stringify(content),
})
const poll = () => sub({ widget_type: 'poll', extra_data: { question: 'Where?', options: ['Park', 'Café'] } })
const todo = () =>
    sub({ widget_type: 'todo', extra_data: { task_list_title: 'Move', tasks: [{ task: 'Pack', desc: 'boxes' }] } })

describe('a poll', () => {
    it('counts each voter once and lets them change their mind', () => {
        const vote = (who: number, key: string, vote: number) => sub({ type: 'vote', key, vote }, who)
        const result = widgetOf(
            [poll(), vote(2, 'canned,0', 1), vote(2, 'canned,0', 1), vote(3, 'canned,1', 1), vote(3, 'canned,1', -1)],
            1,
        ) as Poll
        expect(result.options.map((option) => [option.text, option.voters])).toEqual([
            ['Park', [2]],
            ['Café', []],
        ])
    })

    it('takes new options from anybody, once, and the question from its author only', () => {
        const result = widgetOf(
            [
                poll(),
                sub({ type: 'new_option', idx: 1, option: 'Beach' }, 9),
                sub({ type: 'new_option', idx: 1, option: 'Beach' }, 8),
                sub({ type: 'question', question: 'Who?' }, 9),
                sub({ type: 'question', question: 'When?' }, 1),
            ],
            1,
        ) as Poll
        expect([result.question, result.options.map((option) => option.key)]).toEqual([
            'When?',
            ['canned,0', 'canned,1', '9,1'],
        ])
        expect([result.nextIndex(9), result.nextIndex(4)]).toEqual([2, 1])
    })
})

describe('a to-do list', () => {
    it('strikes, unstrikes and grows', () => {
        const result = widgetOf(
            [
                todo(),
                sub({ type: 'strike', key: '0,canned' }, 4),
                sub({ type: 'new_task', key: 1, task: 'Clean', desc: '', completed: false }, 4),
                sub({ type: 'strike', key: '1,4' }, 2),
                sub({ type: 'strike', key: '1,4' }, 2),
            ],
            1,
        ) as Todo
        expect(result.tasks.map((task) => [task.key, task.text, task.done])).toEqual([
            ['0,canned', 'Pack', true],
            ['1,4', 'Clean', false],
        ])
        expect(result.nextKey(4)).toBe(2)
    })
})

it('is nothing for what is no widget', () => {
    expect(widgetOf([{ ...poll(), content: 'not json' }], 1)).toBeNull()
    expect(widgetOf([], 1)).toBeNull()
})
