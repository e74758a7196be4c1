import { expect, it } from 'vitest'
import { draftOf, widgetText } from './widget-text'

it('writes what the server opens a poll or a list with', () => {
    expect(widgetText('poll', { heading: ' Where to? ', lines: ['Harbour ', '', ' Park'] })).toBe(
        '/poll Where to?\nHarbour\nPark',
    )
    expect(widgetText('todo', { heading: '', lines: ['Bread: two'] })).toBe('/todo\nBread: two')
})

it('takes over what was written', () => {
    expect(draftOf('')).toEqual({ heading: '', lines: [] })
    expect(draftOf('Where to?\n- Harbour\n\n* Park')).toEqual({ heading: 'Where to?', lines: ['Harbour', 'Park'] })
    expect(draftOf('/todo Shopping\nBread')).toEqual({ heading: 'Shopping', lines: ['Bread'] })
    expect(draftOf('/polls are fun').heading).toBe('/polls are fun')
})
