import { expect, it } from 'vitest'
import { FEW, STEP, topicsShown, UNREAD } from './topics-shown'

const many = Array.from({ length: 2000 }, (_, at) => at)
const judge = { isHere: () => false, hasUnread: () => false, isWorth: () => true }

it('the newest are shown, and more when they are asked for', () => {
    expect(topicsShown(many, 0, judge)).toEqual(many.slice(0, FEW))
    expect(topicsShown(many, STEP, judge)).toEqual(many.slice(0, FEW + STEP))
})

it('what is resolved or muted waits until more is asked for', () => {
    const some = { ...judge, isWorth: (topic: number) => topic !== 2 }
    expect(topicsShown(many, 0, some)).toEqual([0, 1, 3, 4, 5])
    expect(topicsShown(many, STEP, some)).toContain(2)
})

it('the one that is open is shown wherever it is', () => {
    expect(topicsShown(many, 0, { ...judge, isHere: (topic) => topic === 1999 })).toContain(1999)
})

it('what is unread is shown however old it is, but not without end', () => {
    const some = { ...judge, hasUnread: (topic: number) => topic === 700 }
    expect(topicsShown(many, 0, some)).toEqual([...many.slice(0, FEW), 700])
    expect(topicsShown(many, 0, { ...judge, hasUnread: () => true }).length).toBe(FEW + UNREAD)
})
