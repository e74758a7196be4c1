import { expect, it } from 'vitest'
import { code, type Edit, fence, link, nextLine, prefixLines, type Selected, wrap } from './format'

/** `a [b] c`: the brackets show the selection. */
const at = (text: string): Selected => {
    const start = text.indexOf('⟦')
    return { text: text.replace(/[⟦⟧]/g, ''), start, end: text.indexOf('⟧') - 1 }
}
const show = (selected: Selected, edit: Edit | null) => {
    if (!edit) return null
    const text = selected.text.slice(0, edit.from) + edit.insert + selected.text.slice(edit.to)
    return text.slice(0, edit.select[0]) + '⟦' + text.slice(...edit.select) + '⟧' + text.slice(edit.select[1])
}
const done = (text: string, act: (selected: Selected) => Edit | null) => show(at(text), act(at(text)))

it.each([
    ['bold', 'a ⟦b⟧ c', (s: Selected) => wrap(s, '**'), 'a **⟦b⟧** c'],
    ['not bold', 'a **⟦b⟧** c', (s: Selected) => wrap(s, '**'), 'a ⟦b⟧ c'],
    ['italic inside bold', '**⟦b⟧**', (s: Selected) => wrap(s, '*'), '***⟦b⟧***'],
    ['without the spaces', '⟦ b ⟧', (s: Selected) => wrap(s, '**'), ' **⟦b⟧** '],
    ['nothing selected', 'a ⟦⟧', (s: Selected) => wrap(s, '`'), 'a `⟦⟧`'],
    ['quote', 'a\n⟦b\nc⟧', (s: Selected) => prefixLines(s, '> '), 'a\n⟦> b\n> c⟧'],
    ['no quote', '⟦> b\n> c⟧', (s: Selected) => prefixLines(s, '> '), '⟦b\nc⟧'],
    ['code with longer fences', '⟦`````\nx⟧', (s: Selected) => fence(s), '``````\n⟦`````\nx⟧\n``````'],
    ['code block', 'a ⟦x⟧', (s: Selected) => fence(s), 'a \n```\n⟦x⟧\n```'],
    ['code in a line', 'a ⟦x⟧', code, 'a `⟦x⟧`'],
    ['code in several lines', '⟦x\ny⟧', code, '```\n⟦x\ny⟧\n```'],
    ['link', '⟦word⟧', link, '[word](⟦url⟧)'],
    ['link of an address', '⟦https://a.example⟧', link, '[⟦⟧](https://a.example)'],
    ['next item', '- a⟦⟧', nextLine, '- a\n- ⟦⟧'],
    ['next number', '9. a⟦⟧', nextLine, '9. a\n10. ⟦⟧'],
    ['end of a list', '- a\n- ⟦⟧', nextLine, '- a\n⟦⟧'],
    ['no list', 'a⟦⟧', nextLine, null],
])('%s', (_name, before, act, after) => {
    expect(done(before, act)).toBe(after)
})
